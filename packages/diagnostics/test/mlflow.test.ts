import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mlflow } from '@coplay/diagnostics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'coplay-mlflow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const info = { name: 'stag-hunt', config: { seed: 3, game: { options: { size: 4 } } }, envSteps: 8, startedAt: 0 };

describe('requests', () => {
  const seen: { readonly method: string; readonly url: string; readonly body: unknown }[] = [];
  let server: Server;
  let uri: string;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      const { method = '', url = '' } = request;
      seen.push({ method, url: url.replace('/api/2.0/mlflow/', ''), body: text === '' ? undefined : JSON.parse(text) });
      const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
      if (url.includes('get-by-name')) return answer(404, { error_code: 'RESOURCE_DOES_NOT_EXIST' });
      if (url.endsWith('experiments/create')) return answer(200, { experiment_id: '7' });
      if (url.endsWith('runs/create')) return answer(200, { run: { info: { run_id: 'r1' } } });
      if (text.includes('refused')) return answer(400, { error_code: 'INVALID_PARAMETER_VALUE', message: 'no' });
      return answer(200, {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it('are those of the REST API: an experiment, a run with parameters, batches of metrics, an end', async () => {
    const log = mlflow({ uri, experiment: 'my games', now: () => 1000 });
    await log.start(info);
    await log.write({ envSteps: 4, update: 1, metrics: { 'policy/loss': 0.5, 'a:b': 1, none: Number.NaN } });
    await log.close();
    expect(seen).toEqual([
      { method: 'GET', url: 'experiments/get-by-name?experiment_name=my%20games', body: undefined },
      { method: 'POST', url: 'experiments/create', body: { name: 'my games' } },
      { method: 'POST', url: 'runs/create', body: { experiment_id: '7', run_name: 'stag-hunt', start_time: 1000 } },
      {
        method: 'POST',
        url: 'runs/log-batch',
        body: {
          run_id: 'r1',
          params: [
            { key: 'seed', value: '3' },
            { key: 'game.options.size', value: '4' },
          ],
        },
      },
      {
        method: 'POST',
        url: 'runs/log-batch',
        body: {
          run_id: 'r1',
          metrics: [
            { key: 'policy/loss', value: 0.5, timestamp: 1000, step: 4 },
            { key: 'a_b', value: 1, timestamp: 1000, step: 4 },
          ],
        },
      },
      { method: 'POST', url: 'runs/update', body: { run_id: 'r1', status: 'FINISHED', end_time: 1000 } },
    ]);
  });

  it('go on in the run that a directory keeps', async () => {
    const log = mlflow({ uri });
    await log.start({ ...info, directory: folder });
    await log.close();
    seen.length = 0;
    const later = mlflow({ uri });
    await later.start({ ...info, directory: folder, startedAt: 4 });
    expect(seen).toEqual([{ method: 'POST', url: 'runs/update', body: { run_id: 'r1', status: 'RUNNING' } }]);
  });

  it('that are refused, or find no server, are errors that say so, which a run outlives', async () => {
    const log = mlflow({ uri });
    await log.start(info);
    const refused = log.write({ envSteps: 1, update: 1, metrics: { refused: 1 } });
    await expect(refused).rejects.toMatchObject({
      message: expect.stringContaining('400 INVALID_PARAMETER_VALUE no'),
      cause: { code: 'HTTP 400' },
    });
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const nobody = mlflow({ uri: `http://127.0.0.1:${port}` }).start(info);
    await expect(nobody).rejects.toMatchObject({
      message: expect.stringContaining('mlflow server'),
      cause: { code: expect.any(String) },
    });
    expect(() => mlflow({ uri: 'nowhere' })).toThrow('mlflow: option uri');
  });
});

/** `COPLAY_MLFLOW=path/to/mlflow`, or the one on the path. */
const command = process.env['COPLAY_MLFLOW'] ?? 'mlflow';
const isThere = spawnSync(command, ['--version']).status === 0;

describe.runIf(isThere)('a real mlflow server', { tags: ['learning'] }, () => {
  const uri = 'http://127.0.0.1:5077';
  let server: ChildProcess;
  beforeAll(async () => {
    const store = `sqlite:///${join(folder, 'mlflow.db')}`;
    const args = ['server', '--port', '5077', '--workers', '1', '--backend-store-uri', store];
    server = spawn(command, args, { cwd: folder, stdio: 'ignore', detached: true });
    for (let i = 0; i < 150; i++) {
      const answer = await fetch(`${uri}/health`).catch(() => undefined);
      if (answer?.ok) return;
      await sleep(1000);
    }
    throw new Error('The server does not answer.');
  }, 160_000);
  afterAll(() => {
    if (server.pid !== undefined) process.kill(-server.pid); // its workers too
  });

  it('has the parameters and the history of each metric', async () => {
    const log = mlflow({ uri, experiment: 'coplay test' });
    const directory = mkdtempSync(join(folder, 'run-'));
    await log.start({ ...info, directory });
    for (const update of [1, 2])
      await log.write({ envSteps: 4 * update, update, metrics: { 'policy/loss': 1 / update } });
    await log.close();
    const { experiment } = await get(`experiments/get-by-name?experiment_name=coplay%20test`);
    const { runs } = await post('runs/search', { experiment_ids: [experiment.experiment_id] });
    expect(runs).toHaveLength(1);
    const [run] = runs;
    expect(run.info).toMatchObject({ status: 'FINISHED', run_name: 'stag-hunt' });
    expect(run.data.params).toEqual(expect.arrayContaining([{ key: 'game.options.size', value: '4' }]));
    const { metrics } = await get(`metrics/get-history?run_id=${run.info.run_id}&metric_key=policy/loss`);
    expect(metrics.map(({ step, value }) => [Number(step), value])).toEqual([
      [4, 1],
      [8, 0.5],
    ]);
  });

  /** The parts of the server's answers that are read. */
  interface Answer {
    readonly experiment: { readonly experiment_id: string };
    readonly runs: readonly {
      readonly info: { readonly run_id: string };
      readonly data: { readonly params: readonly object[] };
    }[];
    readonly metrics: readonly { readonly step: number; readonly value: number }[];
  }

  async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
    return (await (await fetch(`${uri}/api/2.0/mlflow/${path}`, init)).json()) as Answer;
  }
  const get = (path: string) => ask(path);
  const post = (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    return ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
  };
});
