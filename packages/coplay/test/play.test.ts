import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from 'coplay';
import { InferenceSession } from 'onnxruntime-node';
import { beforeAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'coplay-play-'));
const run = join(folder, 'run');
const CONFIGURATION = {
  game: { name: 'stag-hunt', size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 },
  agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [8] }, executor: 'eager' },
  seats: { agent_1: { kind: 'nearest-hare' } },
  envs: 4,
  steps: 8,
  envSteps: 32,
  log: [],
};

/** Starts a command line; `first` is its first line, once there is one or it has ended. */
function start(args: readonly string[]) {
  const controller = new AbortController();
  const err: string[] = [];
  let ended: Promise<number> = Promise.resolve(0);
  const first = new Promise<string | undefined>((resolve) => {
    const terminal = { out: resolve, err: (line: string) => void err.push(line), interrupt: () => controller.signal };
    ended = runCommand(args, terminal);
    void ended.then(() => resolve(undefined));
  });
  return {
    first,
    err,
    ended: () => ended,
    end() {
      controller.abort();
      return ended;
    },
  };
}

/** A command line that ends by itself. */
async function refused(args: readonly string[]): Promise<{ readonly code: number; readonly err: string }> {
  const { ended, err } = start(args);
  return { code: await ended(), err: err.join('\n') };
}

async function train(configuration: object, directory: string): Promise<void> {
  const path = join(folder, 'run.json');
  writeFileSync(path, JSON.stringify(configuration));
  expect((await refused(['train', path, '--directory', directory])).code).toBe(0);
}

describe('coplay play', () => {
  beforeAll(() => train(CONFIGURATION, run));

  it('without a run serves a page of games with rules, and nothing else, until it is interrupted', async () => {
    const { first, err, end } = start(['play', '--port', '0']);
    const url = (await first)!;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(err.join()).toContain('Ctrl-C');
    const page = await fetch(url);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('Stag hunt, 4x4');
    for (const path of ['ort/ort.wasm.min.mjs', '../package.json', '%2e%2e/package.json', 'constructor']) {
      expect((await fetch(new URL(path, url))).status, path).toBe(404);
    }
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    expect(await end()).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('with a run serves its policies and what plays them; agents without one are named', async () => {
    const { first, err, end } = start(['play', run, '--port', '0']);
    const url = (await first)!;
    expect(err.join('\n')).toContain('agent_1 (NearestHare)');
    const [, json] = /id="coplay-play">(.*?)<\/script>/.exec(await (await fetch(url)).text())!;
    const { settings } = JSON.parse(json) as { settings: Record<string, unknown>[] };
    expect(settings).toMatchObject([
      {
        title: `stag-hunt of ${run}`,
        game: 'stag-hunt',
        options: { size: 3, agents: 2, maxSteps: 4 },
        policies: [{ id: 'agent_0', name: 'PPO after 32 steps', url: 'models/0.onnx' }],
      },
    ]);
    const model = await fetch(new URL('models/0.onnx', url));
    const session = await InferenceSession.create(new Uint8Array(await model.arrayBuffer()));
    expect(session.inputNames).toContain('planes');
    for (const [name, type] of [
      ['ort.wasm.min.mjs', 'text/javascript'],
      ['ort-wasm-simd-threaded.mjs', 'text/javascript'],
      ['ort-wasm-simd-threaded.wasm', 'application/wasm'],
    ]) {
      const file = await fetch(new URL(`ort/${name}`, url), { method: 'HEAD' });
      expect([file.status, file.headers.get('content-type')], name).toEqual([200, type]);
    }
    expect(await end()).toBe(0);
  });

  it('says what is wrong with a port, an address or a run', async () => {
    const { first, end } = start(['play', '--port', '0']);
    const port = new URL((await first)!).port;
    const taken = await refused(['play', '--port', port]);
    expect(taken).toEqual({
      code: 1,
      err: expect.stringContaining(`127.0.0.1:${port}, which is taken. Choose another`),
    });
    expect(await end()).toBe(0);
    expect(await refused(['play', '--port', '70000'])).toEqual({
      code: 1,
      err: expect.stringContaining('up to 65535'),
    });
    expect(await refused(['play', '--port', 'x'])).toEqual({ code: 1, err: expect.stringContaining('a whole number') });
    expect(await refused(['play', '--host', '', '--port', '0'])).toEqual({
      code: 1,
      err: expect.stringContaining('--host: expected an address, got none'),
    });
    const nowhere = await refused(['play', '--host', '203.0.113.7', '--port', '0']);
    expect(nowhere).toEqual({ code: 1, err: expect.stringContaining('--host: expected an address that is free') });
    expect(await refused(['play', folder])).toEqual({ code: 1, err: expect.stringContaining('`coplay train` began') });
  });

  it('refuses a run of a game that the page does not have', async () => {
    const matrix = join(folder, 'matrix');
    await train({ ...CONFIGURATION, game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 }, seats: {} }, matrix);
    const game = await refused(['play', matrix]);
    expect(game).toEqual({ code: 1, err: expect.stringContaining('expected one of stag-hunt, snowdrift') });
  });
});
