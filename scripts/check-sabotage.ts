/**
 * Breaks the library on purpose, one change at a time, and checks that a test fails:
 * `npm run check:sabotage -- [WORD...]`. Words choose the changes whose name has one of them. Each change is made in a
 * copy of the repository; the tests of the packages concerned run there, without those that train for minutes. A change
 * that no test notices survives: the exit status is then 1. The last line counts both.
 */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { mustRun, run } from './lib/run';
import { filesUnder, root } from './lib/workspaces';
import { CHANGES, type Change } from './sabotage/changes';

/** Seconds for the tests of one change, and for the tests of the unchanged copy. */
const LIMIT = 900;

const words = process.argv.slice(2);
const wanted = CHANGES.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (wanted.length === 0) throw new Error(`No change has a name with ${words.join(' or ')}.`);

const copies = await Promise.all(
  Array.from({ length: Math.min(availableParallelism(), wanted.length) }, copyOfRepository),
);
let caught = 0;
let survived = 0;
try {
  await checkUnchanged(copies[0], wanted);
  const waiting = [...wanted];
  await Promise.all(
    copies.map(async (copy) => {
      for (let change = waiting.shift(); change; change = waiting.shift()) await tryChange(copy, change);
    }),
  );
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}
console.log(`${caught} caught, ${survived} survived`);
if (survived > 0) process.exitCode = 1;

/** A failing test proves something only if all tests pass without the change. */
async function checkUnchanged(copy: string, changes: readonly Change[]): Promise<void> {
  const filters = [...new Set(changes.flatMap(({ tests }) => tests))];
  const { ok, output, seconds } = await runTests(copy, filters, availableParallelism());
  if (!ok) throw new Error(`The tests fail without any change:\n${output.slice(-4000)}`);
  console.log(`unchanged: all tests pass (${seconds.toFixed(0)} s)`);
}

async function tryChange(copy: string, { name, find, replace, tests }: Change): Promise<void> {
  const path = onlyFileWith(copy, name, find);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  try {
    const { ok, output, seconds } = await runTests(copy, tests, 1);
    const isCaught = !ok && / FAIL /.test(output);
    if (!ok && !isCaught) throw new Error(`${name}: the tests did not run:\n${output.slice(-2000)}`);
    if (isCaught) caught++;
    else survived++;
    console.log(`${isCaught ? 'caught  ' : 'SURVIVED'} ${name} (${relative(copy, path)}, ${seconds.toFixed(0)} s)`);
  } finally {
    writeFileSync(path, text);
  }
}

function runTests(copy: string, filters: readonly string[], workers: number) {
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...filters,
    '--tags-filter=!learning and !slow',
    '--bail=1',
    `--maxWorkers=${workers}`,
  ];
  return run(process.execPath, args, { cwd: copy, env: { ...process.env, NO_COLOR: '1' }, limit: LIMIT });
}

/** The one source file that has the text, wherever it has moved to. */
function onlyFileWith(copy: string, name: string, text: string): string {
  const sources = filesUnder(join(copy, 'packages'), '.ts').filter((path) => !path.endsWith('.test.ts'));
  const found = sources.filter(
    (path) => /[\\/](src|page)[\\/]/.test(path) && readFileSync(path, 'utf8').includes(text),
  );
  const times = found.length === 1 ? readFileSync(found[0], 'utf8').split(text).length - 1 : 0;
  if (times === 1) return found[0];
  const where = found.map((path) => relative(copy, path)).join(', ') || 'no file';
  throw new Error(`${name}: the text to change must stand once in the sources; found in ${where}:\n${text}`);
}

/**
 * The tracked files of the working tree, with the installed packages linked; our own packages are those of the copy.
 */
async function copyOfRepository(): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'coplay-sabotage-'));
  const listed = await mustRun('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root });
  for (const path of listed.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  linkInstalled(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Links to packages of the repository are relative, so that their copies lead into the copy. */
function linkInstalled(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (lstatSync(path).isSymbolicLink()) cpSync(path, join(to, name), { verbatimSymlinks: true });
    else if (name === '@coplay') linkInstalled(path, join(to, name));
    else symlinkSync(path, join(to, name));
  }
}
