/**
 * Tries each package as its users get it: packed, and installed with npm into an empty project, where the README's
 * examples run as ESM, `require` gives the same names as `import`, and types resolve for every kind of consumer. Needs
 * `npm run build` before it. `npm run check:pack -- [NAME...]`, names such as `envs`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { Checklist } from './lib/checklist';
import { codeBlocks } from './lib/markdown';
import { mustRun } from './lib/run';
import { sideBySide } from './lib/side-by-side';
import { root, type Workspace, withSiblings, workspaces } from './lib/workspaces';

/** A kind of TypeScript project that uses the package. */
interface Consumer {
  readonly title: string;
  readonly file: string;
  readonly module: string;
  readonly moduleResolution: string;
}

const consumers: readonly Consumer[] = [
  { title: 'node16, ESM', file: 'esm.mts', module: 'node16', moduleResolution: 'node16' },
  { title: 'node16, CJS', file: 'cjs.cts', module: 'node16', moduleResolution: 'node16' },
  { title: 'nodenext', file: 'next.mts', module: 'nodenext', moduleResolution: 'nodenext' },
  { title: 'bundler', file: 'bundler.ts', module: 'esnext', moduleResolution: 'bundler' },
];

const asked = process.argv.slice(2);
const all = workspaces();
const scratch = mkdtempSync(join(tmpdir(), 'coplay-pack-'));
const checklist = new Checklist();
try {
  const tarballs = await packAll();
  const chosen = all.filter(({ short }) => asked.length === 0 || asked.includes(short));
  await sideBySide(chosen, (workspace) => tryPackage(workspace, tarballs));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
checklist.finish('packed packages');

/** Packs every package; the tarball of each name. */
async function packAll(): Promise<Map<string, string>> {
  const tarballs = new Map<string, string>();
  for (const { name, folder } of all) {
    const output = await mustRun('npm', ['pack', '--json', '--silent', '--pack-destination', scratch], { cwd: folder });
    const [packed] = JSON.parse(output) as { filename: string }[];
    tarballs.set(name, join(scratch, packed!.filename));
  }
  return tarballs;
}

async function tryPackage(workspace: Workspace, tarballs: Map<string, string>): Promise<void> {
  const { name, short, folder } = workspace;
  const project = mkdtempSync(join(scratch, `${short}-`));
  const readme = join(folder, 'README.md');
  const page = existsSync(readme) ? readFileSync(readme, 'utf8') : '';
  const examples = codeBlocks(page).filter(({ language }) => language === 'ts');
  await checklist.check(`${short}: installs into an empty project`, () =>
    install(
      project,
      name,
      examples.map(({ code }) => code),
      tarballs,
    ),
  );
  await checklist.check(`${short}: has an example in its README`, () => {
    if (examples.length === 0) throw new Error('No ```ts block in README.md.');
  });
  for (const { code, line } of examples) {
    await checklist.check(`${short}: README example at line ${line}`, () => runExample(project, code, line));
  }
  await checklist.check(`${short}: require gives what import gives`, () => compareKinds(project, name));
  for (const consumer of consumers) {
    await checklist.check(`${short}: types for ${consumer.title}`, () => checkTypes(project, name, consumer));
  }
  if (short === 'create-coplay') {
    await checklist.check(`${short}: a new project installs, passes its tests and trains`, () =>
      tryProject(project, tarballs),
    );
  }
  if (short === 'core' || short === 'envs') {
    await checklist.check(`${short}: bundles for browsers`, () => bundle(project, name));
  }
}

/** An empty project with the package, the other packages that its README imports, and their dependencies. */
async function install(
  project: string,
  name: string,
  codes: readonly string[],
  tarballs: Map<string, string>,
): Promise<void> {
  const siblings = codes.flatMap((code) =>
    [...code.matchAll(/from '(@coplay\/[a-z-]+)[/a-z-]*'/g)].map((match) => match[1]!),
  );
  const needed = withSiblings([name, ...siblings], all).map((workspace) => tarballs.get(workspace.name)!);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  await mustRun('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...needed], {
    cwd: project,
    limit: 300,
  });
}

/** Begins a project as a user does, and follows its README; packages come from the tarballs. */
async function tryProject(scratchProject: string, tarballs: Map<string, string>): Promise<void> {
  const name = 'my-project';
  await mustRun(process.execPath, ['node_modules/create-coplay/dist/bin.js', name], { cwd: scratchProject });
  const project = join(scratchProject, name);
  const path = join(project, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const needed = withSiblings(Object.keys(manifest.dependencies), all);
  for (const one of needed) manifest.dependencies[one.name] = `file:${tarballs.get(one.name)}`;
  writeFileSync(path, JSON.stringify(manifest));
  const npm = (...args: string[]) => mustRun('npm', args, { cwd: project, limit: 300 });
  await npm('install', '--no-audit', '--no-fund', '--prefer-offline');
  await npm('test');
  await npm('run', 'types');
  await npm('start', '--', '2000');
  if (!existsSync(join(project, 'runs/first/report.html'))) throw new Error('npm start wrote no report.');
  for (const kind of ['game', 'agent', 'learner', 'study']) {
    await mustRun('npx', ['coplay', 'new', kind, `my-${kind}`, '--directory', 'src'], { cwd: project });
    await mustRun('npx', ['tsx', `src/my-${kind}.ts`, '1024'], { cwd: project });
  }
  await npm('run', 'types');
}

async function runExample(project: string, code: string, line: number): Promise<void> {
  const { code: plain } = await transform(code, { loader: 'ts', format: 'esm', target: 'node20' });
  const file = join(project, `readme-${line}.mjs`);
  writeFileSync(file, plain);
  await mustRun(process.execPath, [file], { cwd: project, limit: 60 });
}

async function compareKinds(project: string, name: string): Promise<void> {
  writeFileSync(join(project, 'names.cjs'), `console.log(Object.keys(require('${name}')).sort().join('\\n'));`);
  writeFileSync(join(project, 'names.mjs'), `console.log(Object.keys(await import('${name}')).sort().join('\\n'));`);
  const [required, imported] = await Promise.all(
    ['names.cjs', 'names.mjs'].map((file) =>
      mustRun(process.execPath, ['--no-warnings', file], { cwd: project, limit: 60 }),
    ),
  );
  if (required !== imported) throw new Error(`require gives\n${required}\nimport gives\n${imported}`);
  if (required.trim() === '') throw new Error('It exports nothing.');
}

/** Compiles a file that uses the package; fails also where its types are not found and silently become `any`. */
async function checkTypes(project: string, name: string, consumer: Consumer): Promise<void> {
  const { file, module, moduleResolution } = consumer;
  writeFileSync(
    join(project, file),
    `import * as it from '${name}';
type IsAny<T> = 0 extends 1 & T ? true : false;
type Whole = typeof it;
type Unknown = keyof { [K in keyof Whole as IsAny<Whole[K]> extends true ? K : never]: true };
export const every: [Unknown] extends [never] ? 'export has a type' : Unknown = 'export has a type';
`,
  );
  const options = {
    module,
    moduleResolution,
    target: 'es2022',
    lib: ['es2023', 'dom'],
    strict: true,
    noEmit: true,
    skipLibCheck: false, // declarations of ours and of our dependencies must pass too
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: [file] }));
  await mustRun(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], {
    cwd: project,
    limit: 120,
  });
}

/** For `platform: browser` esbuild refuses Node's modules; tfjs must not come along either. */
async function bundle(project: string, name: string): Promise<void> {
  const { metafile } = await build({
    stdin: { contents: `import * as it from '${name}'; console.log(it);`, resolveDir: project },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const foreign = Object.keys(metafile.inputs).filter((input) => /@tensorflow|^node:|polyfill/.test(input));
  if (foreign.length > 0) throw new Error(`The bundle holds ${foreign.join(', ')}`);
}
