import { mkdtempSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { hostname, networkInterfaces, tmpdir } from 'node:os';
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

/** The status of a request to a server of this machine that has this Host header; null for none. */
function statusFor(port: string, host: string | null, { path = '/', address = '127.0.0.1', method = 'GET' } = {}) {
  return new Promise<number | undefined>((resolve, reject) => {
    const headers = { ...(host !== null && { Host: host }), Origin: 'http://evil.example' };
    const sent = request({ host: address, port, path, method, headers, setHost: false, agent: false });
    sent.on('error', reject);
    sent.on('response', (response: IncomingMessage) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.end();
  });
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

  it('answers only requests for its own host name: no page of another site, to which address its name may point', async () => {
    const { first, end } = start(['play', '--port', '0']);
    const { port } = new URL((await first)!);
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'LocalHost']) {
      expect(await statusFor(port, `${host}:${port}`), host).toBe(200);
    }
    const strange = [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '0.0.0.0',
      '203.0.113.7',
      '',
      '::1',
    ];
    for (const host of [...strange, `evil@localhost`]) {
      expect(await statusFor(port, `${host}:${port}`), host).toBe(403);
      expect(await statusFor(port, `${host}:${port}`, { path: '/nothing' }), host).toBe(403);
      expect(await statusFor(port, `${host}:${port}`, { method: 'POST' }), host).toBe(403);
    }
    // Another port, and none, are other servers. HTTP 1.1 wants a Host header: Node says 400 by itself.
    for (const host of [
      'localhost',
      '127.0.0.1',
      `localhost:${Number(port) + 1}`,
      `localhost:${port}0`,
      `localhost:${port}/`,
    ]) {
      expect(await statusFor(port, host), host).toBe(403);
    }
    expect(await statusFor(port, null)).toBe(400);
    expect(await end()).toBe(0);
  });

  it('on every network is asked for by the address of the machine or by its name', async () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const address = own.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2';
    const { first, end } = start(['play', '--port', '0', '--host', '0.0.0.0']);
    const { port } = new URL((await first)!);
    for (const host of ['localhost', '127.0.0.1', '0.0.0.0', hostname(), address]) {
      expect(await statusFor(port, `${host}:${port}`, { address }), host).toBe(200);
    }
    for (const host of ['evil.example', '203.0.113.7']) {
      expect(await statusFor(port, `${host}:${port}`, { address }), host).toBe(403);
    }
    expect(await end()).toBe(0);
  });

  it('lets no other site read, frame or guess what it serves', async () => {
    const { first, end } = start(['play', '--port', '0']);
    const url = (await first)!;
    for (const path of ['', 'nothing']) {
      const { headers } = await fetch(new URL(path, url));
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect([headers.get('x-frame-options'), headers.get('x-content-type-options')]).toEqual(['DENY', 'nosniff']);
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
    expect(await refused(['play', folder])).toEqual({ code: 1, err: expect.stringContaining('without config.json') });
  });

  it('refuses a run of a game that the page does not have', async () => {
    const matrix = join(folder, 'matrix');
    await train({ ...CONFIGURATION, game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 }, seats: {} }, matrix);
    const game = await refused(['play', matrix]);
    expect(game).toEqual({ code: 1, err: expect.stringContaining('expected one of stag-hunt, snowdrift') });
  });
});
