import { createFile, type TemplateKind, templateKinds } from 'create-coplay';
import { answer, command, EXIT, JSON_FLAG, textOf, UsageError } from '../command';

/** `coplay new` */
export const newCommand = command({
  usage: 'new game|agent|learner|study NAME [--directory DIR]',
  summary: 'Writes NAME.ts, a file of TypeScript that runs: a game, an agent, a learner or a study to start from.',
  words: { least: 2, most: 2 },
  flags: {
    directory: { value: 'DIR', what: 'the folder of the file; default: this one' },
    ...JSON_FLAG,
  },
  async run([kind, name], flags, terminal) {
    if (!(templateKinds as readonly string[]).includes(kind)) {
      throw new UsageError(`There is no kind ${kind}. Kinds: ${templateKinds.join(', ')}.`);
    }
    const directory = textOf(flags, 'directory') ?? '.';
    const path = createFile({ kind: kind as TemplateKind, name, directory });
    const run = `npx tsx ${path}`;
    answer(terminal, flags, { path, run }, () => {
      return `${path}\nRun it: ${run}\nInside of Coplay's repository: npx tsx --conditions=@coplay/source ${path}`;
    });
    return EXIT.ok;
  },
});
