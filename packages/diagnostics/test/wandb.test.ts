import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { wandb } from '@coplay/diagnostics';
import { afterAll, describe, expect, it } from 'vitest';

const top = mkdtempSync(join(tmpdir(), 'coplay-wandb-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const folder = () => mkdtempSync(join(top, 'run-'));
const info = { name: 'stag-hunt', config: { seed: 3, game: { size: 4 } }, envSteps: 8, startedAt: 0 };
const clock = () => Date.UTC(2026, 0, 2, 3, 4, 5);

const files = (directory: string) => readdirSync(join(directory, 'wandb')).sort();
function contents(directory: string): Buffer {
  const [name] = files(directory);
  return readFileSync(join(directory, 'wandb', name, `run-${name.slice(-8)}.wandb`));
}

/** LevelDB's log format, read as its page describes it: the records, and how many pieces each has. */
function recordsOf(bytes: Buffer): { readonly record: string; readonly pieces: number }[] {
  const records = [];
  let [record, pieces] = ['', 0];
  for (let at = 7; at < bytes.length; ) {
    const left = 32_768 - (at % 32_768);
    if (left < 7) {
      at += left;
      continue;
    }
    const length = bytes.readUInt16LE(at + 4);
    const kind = bytes[at + 6];
    record += bytes.toString('latin1', at + 7, at + 7 + length);
    pieces++;
    at += 7 + length;
    if (kind === 2 || kind === 3) continue;
    records.push({ record, pieces });
    [record, pieces] = ['', 0];
  }
  return records;
}

describe('a run file', () => {
  it('holds header, run, history, summary and exit, in the bytes that their protocol gives', async () => {
    const directory = folder();
    const log = wandb(directory, { project: 'p', runName: 'n', clock });
    log.start(info);
    log.write({ envSteps: 300, update: 1, metrics: { a: 0.5, b: Number.NaN } });
    log.close();
    const [name] = files(directory);
    expect(name).toMatch(/^offline-run-20260102_030405-[0-9a-z]{8}$/);
    const bytes = contents(directory);
    expect(bytes.subarray(0, 7).toString('hex')).toBe('3a572642e1be00');
    const records = recordsOf(bytes).map(({ record }) => record);
    expect(records).toHaveLength(5);
    // Record.num = 1; Record.header = 21: version_info = 1: producer = 1, min_consumer = 2.
    expect(records[0]).toBe('\x08\x01\xaa\x01\x12\x0a\x10\x0a\x06coplay\x12\x060.13.0');
    expect(records[1]).toContain(`\x0a\x08${name.slice(-8)}\x1a\x01p`);
    expect(records[1]).toContain('\x0a\x04game\x82\x01\x0a{"size":4}');
    // History of two metrics, step, time and runtime; the step again, 300 = 2 * 128 + 44.
    const item = (key: string, json: string) =>
      `\x0a${String.fromCharCode(key.length + json.length + 5)}\x12${String.fromCharCode(key.length)}${key}\x82\x01${String.fromCharCode(json.length)}${json}`;
    const items = [item('a', '0.5'), item('b', 'NaN'), item('_step', '300'), item('_timestamp', '1767323045')];
    const all = `${items.join('')}${item('_runtime', '0')}`;
    expect(records[2]).toContain(`${all}\x12\x03\x08\xac\x02`);
    expect(records[3].endsWith(all)).toBe(true);
    expect(records[4]).toBe('\x08\x05\x92\x01\x02\x10\x00');
  });

  it('splits records at the ends of blocks, and leaves too little room for a header empty', () => {
    const directory = folder();
    const log = wandb(directory, { clock });
    log.start({ ...info, config: { long: 'x'.repeat(70_000) } });
    for (let update = 1; update <= 400; update++)
      log.write({ envSteps: update, update, metrics: { loss: 1 / update } });
    log.close();
    const records = recordsOf(contents(directory));
    expect(records).toHaveLength(2 + 2 * 400 + 1);
    expect(records[1].pieces).toBe(3);
    const steps = records.flatMap(({ record }) => record.split('_step')[1]?.slice(3).split('\n')[0] ?? []);
    expect(steps.map(Number)).toEqual(Array.from({ length: 800 }, (_, i) => 1 + (i >> 1)));
  });

  it('of a run that goes on has the same id and another name', () => {
    const directory = folder();
    for (const startedAt of [0, 4, 8]) wandb(directory, { clock }).start({ ...info, startedAt });
    const names = files(directory);
    expect(names).toHaveLength(3);
    expect(new Set(names.map((name) => name.slice(-8))).size).toBe(1);
    wandb(directory, { clock }).start(info);
    expect(new Set(files(directory).map((name) => name.slice(-8))).size).toBe(2);
  });

  it('is refused without a directory, with wrong options, and before start', () => {
    expect(() => wandb('')).toThrow('wandb: expected the path of a directory');
    expect(() => wandb('runs/a', { project: '' })).toThrow('project');
    expect(() => wandb(folder()).write({ envSteps: 1, update: 1, metrics: {} })).toThrow('wandb.write');
  });
});

/** `COPLAY_WANDB=path/to/wandb`, or the one on the path. */
const command = process.env['COPLAY_WANDB'] ?? 'wandb';
const isThere = spawnSync(command, ['--version']).status === 0;

describe.runIf(isThere)('wandb sync', { tags: ['learning'] }, () => {
  it('uploads the configuration and the history of each metric', { timeout: 120_000 }, async () => {
    const directory = folder();
    const log = wandb(directory, { project: 'p' });
    log.start(info);
    for (const update of [1, 2]) log.write({ envSteps: 4 * update, update, metrics: { loss: 1 / update } });
    log.close();
    log.start({ ...info, startedAt: 8 });
    log.write({ envSteps: 12, update: 3, metrics: { loss: 0.25 } });
    log.close();
    const uploaded = await sync(directory, files(directory));
    expect(JSON.parse(uploaded.config)).toMatchObject({ seed: { value: 3 }, game: { value: { size: 4 } } });
    expect(uploaded.history.map(({ _step, loss }) => [_step, loss])).toEqual([
      [4, 1],
      [8, 0.5],
      [12, 0.25],
    ]);
  });

  /** Runs the client with a server that takes everything and answers as little as the client needs. */
  async function sync(directory: string, names: readonly string[]) {
    let config = '{}';
    const history: Record<string, number>[] = [];
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const raw = Buffer.concat(parts);
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString();
      const entity = { id: 'e', name: 'me' };
      const bucket = { id: 'x', name: 'r', displayName: 'n', config: '{}', project: { id: 'p', name: 'p', entity } };
      if (request.url?.includes('graphql')) config = JSON.parse(text).variables?.config ?? config;
      if (request.url?.endsWith('file_stream')) {
        const lines: string[] = JSON.parse(text).files?.['wandb-history.jsonl']?.content ?? [];
        history.push(...lines.map((line) => JSON.parse(line)));
      }
      const data = { viewer: { id: '1', entity: 'me' }, upsertBucket: { bucket, inserted: true } };
      const serverInfo = { cliVersionInfo: { max_cli_version: '99' }, features: [] };
      const createRunFiles = { runID: 'x', uploadHeaders: [], files: [] };
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ data: { ...data, serverInfo, createRunFiles } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { ...process.env, WANDB_BASE_URL: uri, WANDB_API_KEY: 'a'.repeat(40), WANDB_ERROR_REPORTING: 'false' };
    const paths = names.map((name) => join('wandb', name));
    const child = spawn(command, ['sync', ...paths], { cwd: directory, env, stdio: 'ignore' });
    const status = await new Promise((resolve) => child.on('close', resolve));
    server.close();
    server.closeAllConnections();
    expect(status).toBe(0);
    return { config, history };
  }
});
