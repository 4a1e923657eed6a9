/**
 * Builds @tensorflow/tfjs-node against the TensorFlow that PyPI carries: `npm run setup:tfjs-node`. For machines where
 * `npm i @tensorflow/tfjs-node` can't download its own library or prebuilt binary. Takes a minute or two and 1.2 GB.
 *
 * Needs Linux on x64, python3 with pip, make and g++. The package goes into node_modules without being saved:
 * package.json and the lock file stay as they are, and the next `npm ci` or `npm install` removes it. `--into DIR`
 * installs elsewhere.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { mustRun, run } from './lib/run';
import { root } from './lib/workspaces';

const TFJS_NODE = '4.22.0';
const TENSORFLOW = '2.21.0';
/** Libraries are all that we take from the wheel, so it needn't fit the Python that downloads it. */
const WHEEL = ['--only-binary=:all:', '--platform', 'manylinux_2_27_x86_64', '--python-version', '3.12'];

/** A wheel is a zip file. */
const UNPACK = `
import sys, zipfile
wanted = tuple('tensorflow/' + part for part in (
    'libtensorflow_cc.so.2', 'libtensorflow_framework.so.2', 'include/tensorflow/c/', 'include/tensorflow/core/platform/',
    'include/xla/', 'include/tsl/', 'include/external/'))
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        if name.startswith(wanted):
            wheel.extract(name, sys.argv[2])
`;

/** Loads the package as our tensor package does, and multiplies [1 2; 3 4] by itself: [7 10; 15 22]. */
const TRIAL = `
  const util = require('node:util');
  util.isNullOrUndefined ??= (value) => value === null || value === undefined;
  util.isArray ??= Array.isArray;
  const tf = require('@tensorflow/tfjs-node');
  const a = tf.tensor2d([[1, 2], [3, 4]]);
  const product = [...tf.matMul(a, a).dataSync()].join();
  if (tf.getBackend() !== 'tensorflow' || product !== '7,10,15,22') throw new Error(tf.getBackend() + ': ' + product);
  console.log('tfjs-node works, on TensorFlow ' + tf.backend().binding.TF_Version);
`;

const { values } = parseArgs({ options: { into: { type: 'string', default: root } } });
const target = resolve(values.into);
const packageFolder = join(target, 'node_modules/@tensorflow/tfjs-node');

if (await works()) {
  say('It is already there and works.');
} else {
  await checkMachine();
  const scratch = mkdtempSync(join(tmpdir(), 'tfjs-node-'));
  try {
    const tensorflow = await downloadTensorflow(scratch);
    await installPackage();
    placeLibraries(tensorflow);
    await buildBinding();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  if (!(await works())) throw new Error(`It was built, but doesn't work:\n${(await tryIt()).output}`);
}
say((await tryIt()).output.trim().split('\n').at(-1)!);

async function works(): Promise<boolean> {
  return existsSync(packageFolder) && (await tryIt()).ok;
}

function tryIt() {
  const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2' };
  return run(process.execPath, ['-e', TRIAL], { cwd: target, env, limit: 120 });
}

async function checkMachine(): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `This recipe is for Linux on x64; here it's ${process.platform} on ${process.arch}. Try npm i @tensorflow/tfjs-node.`,
    );
  }
  const needed: [string, string[], string][] = [
    ['python3', ['-m', 'pip', '--version'], 'python3 with pip'],
    ['make', ['--version'], 'make'],
    ['g++', ['--version'], 'g++'],
  ];
  for (const [command, args, what] of needed) {
    if (!(await run(command, args)).ok)
      throw new Error(`${what} is missing: install it by your system's package manager.`);
  }
}

/** Returns the wheel's folder `tensorflow`, with its libraries and headers. */
async function downloadTensorflow(scratch: string): Promise<string> {
  say(`Downloading TensorFlow ${TENSORFLOW} from PyPI (274 MB) ...`);
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', scratch];
  await mustRun('python3', [...pip, ...WHEEL, `tensorflow-cpu==${TENSORFLOW}`], { limit: 1800 });
  const wheel = readdirSync(scratch).find((name) => name.endsWith('.whl'))!;
  await mustRun('python3', ['-c', UNPACK, join(scratch, wheel), scratch]);
  return join(scratch, 'tensorflow');
}

async function installPackage(): Promise<void> {
  say(`Installing @tensorflow/tfjs-node ${TFJS_NODE}, without its install script ...`);
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  await mustRun('npm', ['install', ...flags, `@tensorflow/tfjs-node@${TFJS_NODE}`], { cwd: target });
}

/** tfjs-node looks for libtensorflow; in the wheel the same functions are in libtensorflow_cc. */
function placeLibraries(tensorflow: string): void {
  const deps = join(packageFolder, 'deps');
  const lib = join(deps, 'lib');
  rmSync(deps, { recursive: true, force: true });
  mkdirSync(lib, { recursive: true });
  cpSync(join(tensorflow, 'include'), join(deps, 'include'), { recursive: true });
  for (const name of ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'])
    move(join(tensorflow, name), join(lib, name));
  const links = {
    'libtensorflow.so': 'libtensorflow_cc.so.2',
    'libtensorflow.so.2.9.1': 'libtensorflow_cc.so.2', // its install script looks for this name
    'libtensorflow_framework.so': 'libtensorflow_framework.so.2',
  };
  for (const [name, file] of Object.entries(links)) symlinkSync(file, join(lib, name));
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    cpSync(from, to); // another file system
  }
}

async function buildBinding(): Promise<void> {
  say('Building the binding ...');
  const out = join(packageFolder, 'lib/napi-v8');
  const prefix = dirname(dirname(process.execPath));
  const hasHeaders = existsSync(join(prefix, 'include/node/node.h'));
  const settings = [
    ...(hasHeaders ? [`--nodedir=${prefix}`] : []), // else node-gyp downloads them
    `--module=${join(out, 'tfjs_binding.node')}`,
    '--module_name=tfjs_binding',
    `--module_path=${out}`,
    '--napi_version=9',
    '--napi_build_version=8',
  ];
  await mustRun(process.execPath, [nodeGyp(), 'rebuild', ...settings], { cwd: packageFolder });
}

/** npm brings its own. */
function nodeGyp(): string {
  const npm = process.env['npm_execpath'] ?? '';
  const found = join(dirname(npm), '../node_modules/node-gyp/bin/node-gyp.js');
  if (!npm || !existsSync(found)) throw new Error('Start this script by npm: npm run setup:tfjs-node.');
  return found;
}

function say(line: string): void {
  console.log(line);
}
