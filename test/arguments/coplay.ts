import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stagHunt } from '@coplay/envs';
import { type Doors, door } from './doors';

const terminal = { out: () => undefined, err: () => undefined, interrupt: () => new AbortController().signal };
const configuration = { game: stagHunt({ agents: 2 }), envSteps: 100 };

const folder = mkdtempSync(join(tmpdir(), 'coplay-arguments-'));
writeFileSync(join(folder, 'coplay.json'), JSON.stringify({ game: { name: 'stag-hunt' }, envSteps: 100 }));

/** The public functions of the command line's package, with valid arguments. */
export const coplayDoors: Doors = {
  checkConfiguration: door(() => ['checkConfiguration', configuration], ['where']),
  codeOfRun: door(() => [folder, {}], ['path', 'options']),
  defineConfig: door(() => [configuration], [['{}', 'a cyclic object', 'Uint16Array [7]', 'BigInt64Array [7n]']]),
  runCommand: door(() => [['--help'], terminal], [['[]', "['x']", 'longer']]),
};
