import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '@coplay/core';
import { textTable } from '@coplay/diagnostics';
import { type Checkpoint, describeCheckpoint, flattenState, loadCheckpoint } from '@coplay/trainers/checkpoint';
import { command, EXIT, JSON_FLAG, type Terminal } from '../command';

/** `coplay inspect` */
export const inspectCommand = command({
  usage: 'inspect CHECKPOINT',
  summary:
    'Shows the content of a checkpoint and checks every checksum. The directory of a run means its newest good one.',
  words: { least: 1, most: 1 },
  flags: {
    config: { what: 'the configuration of the run, as the checkpoint tells it' },
    arrays: { what: 'every array, with shape, extremes and how many numbers are not finite' },
    ...JSON_FLAG,
  },
  async run([path], flags, terminal) {
    const checkpoint = await find(path, terminal);
    const arrays = arraysOf(checkpoint);
    const { step, library, about } = checkpoint;
    if (flags['json']) {
      terminal.out(JSON.stringify({ path: checkpoint.path, step, library, about, arrays }));
      return EXIT.ok;
    }
    terminal.out(describeCheckpoint(checkpoint));
    terminal.out(textTable(flags['arrays'] ? arrays : parts(arrays)));
    if (flags['config']) terminal.out(JSON.stringify(about, null, 2));
    return EXIT.ok;
  },
});

async function find(path: string, { err }: Terminal): Promise<Checkpoint> {
  const expected = 'a checkpoint, or the directory of a run';
  const refuse = (got: string, remedy: string): never => fail('coplay inspect', expected, `${path}, ${got}`, remedy);
  if (!existsSync(path)) refuse('which does not exist', 'Check the path.');
  const [isRun, isCheckpoint] = ['checkpoints', 'manifest.json'].map((name) => existsSync(join(path, name)));
  if (!isRun && existsSync(join(path, 'config.json'))) {
    refuse('a run without checkpoints', 'Train it further, until one is saved.');
  }
  if (!isRun && !isCheckpoint) {
    refuse('which is neither', 'Give a directory such as runs/a or runs/a/checkpoints/step-000000012345.');
  }
  return loadCheckpoint(path, { warn: err });
}

/** A line for each array. */
interface ArrayRow {
  readonly array: string;
  readonly type: string;
  readonly shape: string;
  readonly numbers: number;
  readonly least: number;
  readonly greatest: number;
  readonly 'not finite': number;
  readonly [column: string]: string | number;
}

function arraysOf({ saved }: Checkpoint): ArrayRow[] {
  return Object.entries(flattenState(saved).arrays).map(([array, { data, shape }]) => {
    const finite = Array.from(data as ArrayLike<number | bigint>, Number).filter(Number.isFinite);
    return {
      array,
      type: data[Symbol.toStringTag].replace('Array', ''),
      shape: `[${shape.join(', ')}]`,
      numbers: data.length,
      least: finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
      greatest: finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
      'not finite': data.length - finite.length,
    };
  });
}

/** Sums over the arrays of each part of the run, such as `learners/agent_0`. */
function parts(arrays: readonly ArrayRow[]): { part: string; arrays: number; numbers: number; 'not finite': number }[] {
  const sums = new Map<string, { part: string; arrays: number; numbers: number; 'not finite': number }>();
  for (const row of arrays) {
    const part = row.array.split('/').slice(0, 2).join('/');
    const sum = sums.get(part) ?? { part, arrays: 0, numbers: 0, 'not finite': 0 };
    sum.arrays++;
    sum.numbers += row.numbers;
    sum['not finite'] += row['not finite'];
    sums.set(part, sum);
  }
  return [...sums.values()];
}
