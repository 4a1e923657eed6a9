import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fail } from '@coplay/core';
import { toOnnx } from '@coplay/trainers';
import { type PlayPolicy, type PlaySetting, playPage } from '@coplay/viewer';
import { answer, command, EXIT, type Flags, JSON_FLAG, type Terminal, textOf, wholeNumber } from '../command';
import { ALLOW_CODE } from '../configuration';
import { type ServedFile, serveFiles } from '../serve';
import { policyOf } from './policy';
import { STEP_FLAG, trainedRun } from './trained';

/** This module: `__filename` in the CommonJS build, `import.meta.url` in the other. */
const HERE: string = typeof __filename === 'string' ? __filename : import.meta.url;
/** Files of onnxruntime-web that the page loads. */
const RUNTIME = ['ort.wasm.min.mjs', 'ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'];

/** `coplay play` */
export const playCommand = command({
  usage: 'play [RUN...] [--port N]',
  summary: 'Serves a page on which you take a seat among the agents of runs, or among rules where no run is given.',
  words: { least: 0, most: Number.POSITIVE_INFINITY },
  flags: {
    port: { value: 'N', what: 'default 8000; 0 for any free one' },
    host: { value: 'ADDRESS', what: 'default 127.0.0.1, this machine alone; 0.0.0.0 lets others in' },
    ...STEP_FLAG,
    ...JSON_FLAG,
    ...ALLOW_CODE,
  },
  async run(runs, flags, terminal) {
    const port = portOf(flags);
    const host = hostOf(flags);
    const files = new Map<string, ServedFile>();
    const settings: PlaySetting[] = [];
    for (const run of runs) settings.push(await settingOf(run, flags, files, terminal));
    if (settings.length > 0) for (const [path, file] of runtimeFiles()) files.set(path, file);
    files.set('/', playPage(settings.length > 0 ? { settings } : {}));
    const signal = terminal.interrupt();
    const server = await serveFiles(files, host, port);
    answer(terminal, flags, { url: server.url }, () => server.url);
    terminal.err('Open it in a browser; Ctrl-C ends the server.');
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await server.close();
    return EXIT.ok;
  },
});

function portOf(flags: Flags): number {
  const port = wholeNumber(flags, 'port') ?? 8000;
  return port <= 65_535 ? port : fail('--port', 'a whole number up to 65535', String(port), 'Choose another.');
}

function hostOf(flags: Flags): string {
  const host = textOf(flags, 'host') ?? '127.0.0.1';
  // Node takes an empty one for every address there is.
  return host === '' ? fail('--host', 'an address', 'none', 'Leave it out for this machine alone.') : host;
}

/** The game of a run with the policies of its newest good checkpoint, whose files join the others. */
async function settingOf(
  directory: string,
  flags: Flags,
  files: Map<string, ServedFile>,
  terminal: Terminal,
): Promise<PlaySetting> {
  const run = await trainedRun(directory, flags, terminal);
  const { game } = run;
  try {
    const policies: PlayPolicy[] = [];
    const without: string[] = [];
    for (const agent of run.agents) {
      const policy = policyOf(agent);
      if (typeof policy === 'string') {
        without.push(`${agent.id} (${agent.name})`);
        continue;
      }
      const url = `models/${files.size}.onnx`;
      files.set(`/${url}`, await toOnnx(policy));
      policies.push({ id: agent.id, name: `${agent.name} after ${run.envSteps} steps`, url });
    }
    if (policies.length === 0) {
      const expected = `an agent in ${directory} whose policy PPO trains`;
      fail('coplay play', expected, without.join(', '), 'Train one of that kind.');
    }
    if (without.length > 0)
      terminal.err(`${directory}: offered without ${without.join(', ')}, of which there is no ONNX file.`);
    return { title: `${game.name} of ${directory}`, game: game.name, options: game.options, policies };
  } finally {
    run.dispose();
  }
}

/** What plays ONNX files in the page. */
function runtimeFiles(): [string, ServedFile][] {
  const folder = runtimeFolder();
  return RUNTIME.map((name) => [`/ort/${name}`, () => readFile(join(folder, name))]);
}

function runtimeFolder(): string {
  try {
    return dirname(createRequire(HERE).resolve('onnxruntime-web/wasm'));
  } catch {
    const remedy = 'Install it together with coplay: npm i onnxruntime-web@1.30.0';
    return fail('coplay play', 'the npm package onnxruntime-web, which plays policies in the page', 'none', remedy);
  }
}
