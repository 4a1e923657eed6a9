import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stagHunt } from '@coplay/envs';
import { runCommand } from 'coplay';
import { type Doors, door } from './doors';

const terminal = { out: () => undefined, err: () => undefined, interrupt: () => new AbortController().signal };
const configuration = { game: stagHunt({ agents: 2 }), envSteps: 100 };

const folder = mkdtempSync(join(tmpdir(), 'coplay-sweep-'));
const file = join(folder, 'sweep.json');
const sweep = {
  configuration: { game: { name: 'matrix' }, agents: { kind: 'random' }, envSteps: 1 },
  list: [{ envs: 1, steps: 1 }],
  episodes: 1,
};
writeFileSync(file, JSON.stringify(sweep));
// The sweep's only run is done beforehand, so that runSweep needs no process.
await runCommand(['sweep', file, '--directory', folder, '--index', '0'], terminal);
/** With the configuration of a run. */
const begun = mkdtempSync(join(tmpdir(), 'coplay-arguments-'));
writeFileSync(join(begun, 'coplay.json'), JSON.stringify({ game: { name: 'stag-hunt' }, envSteps: 100 }));

/** The public functions of the command line's package, with valid arguments. */
export const coplayDoors: Doors = {
  checkConfiguration: door(() => ['checkConfiguration', configuration], ['where']),
  codeOfRun: door(() => [begun, {}], ['path', 'options']),
  defineConfig: door(() => [configuration], [['{}', 'a cyclic object', 'Uint16Array [7]', 'BigInt64Array [7n]']]),
  defineSweep: door(() => [sweep], [['{}', 'a cyclic object', 'Uint16Array [7]', 'BigInt64Array [7n]']]),
  // Any text is a directory, and a sweep would begin there.
  runSweep: door(() => [{ file, directory: folder, jobs: 1, resume: true }], [["-directory: 'x'"]], {}, ['coplay']),
  runCommand: door(() => [['--help'], terminal], [['[]', "['x']", 'longer']]),
};

let count = 0;

/** Those of the package that writes files of new projects, each time with another name. */
export const createCoplayDoors: Doors = {
  // Any text is a folder.
  createFile: door(
    () => [{ kind: 'game', name: `game-${count++}`, directory: folder }],
    [['-directory: undefined', "-directory: 'x'"]],
  ),
  createProject: door(() => [{ directory: join(folder, `project-${count++}`) }], [["-directory: 'x'"]]),
};
