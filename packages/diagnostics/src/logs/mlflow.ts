import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CoplayError, checkOptions, fail, type Log, show } from '@coplay/core';
import { functions, parseJson } from '@coplay/core/checks';
import { codeOf, writeWholeSync } from '@coplay/core/node';
import { z } from 'zod';
import { checkDescription, checkEntry, checkStart, notStarted } from './options';

/** Options of {@link mlflow}. */
export interface MlflowOptions {
  /** Address of the tracking server: `http://127.0.0.1:5000` */
  readonly uri: string;
  /** The experiment, by its name; made if it isn't there. Default `coplay` */
  readonly experiment?: string;
  /** Name of the run. Default: the game's name */
  readonly runName?: string;
  /** Sent as a bearer token. Default: none */
  readonly token?: string;
  /** Milliseconds since 1970, for the times of metrics. Default: the machine's clock */
  readonly now?: () => number;
}

const schema = z.strictObject({
  uri: z.url({ protocol: /^https?$/, error: 'the address of a server: http://127.0.0.1:5000' }),
  experiment: z.string().min(1).default('coplay'),
  runName: z.string().min(1).optional(),
  token: z.string().min(1).optional(),
  now: functions<() => number>().default(() => () => performance.timeOrigin + performance.now()),
});

/** Entries of one request at most, by the server's own limits. */
const BATCH = { metrics: 1000, params: 100 } as const;
/** Characters of a parameter's name and value at most. */
const PARAM = { key: 250, value: 6000 } as const;
/** In the directory of a run: its run on the server, for when it is resumed. */
const FILE = 'mlflow.json';

/** What the server answers; only the fields that are read. */
interface Answer {
  readonly error_code?: string;
  readonly message?: string;
  readonly experiment?: { readonly experiment_id: string };
  readonly experiment_id?: string;
  readonly run?: { readonly info: { readonly run_id: string } };
}

/**
 * Sends metrics to an MLflow tracking server by its REST API: the configuration as parameters, and each metric with
 * `envSteps` as its step. A run with a directory keeps the id of its MLflow run there (`mlflow.json`), and goes on in
 * it when it is resumed. Values that aren't finite are left out: JSON has no word for them.
 *
 * @throws CoplayError for wrong options; `start` for a server that can't be reached or refuses, which it names. Entries
 *         that can't be sent are missing, and the training goes on, as for a full disk
 */
export function mlflow(options: MlflowOptions): Log {
  const { uri, experiment, runName, token, now } = checkOptions('mlflow', schema, options);
  const post = (path: string, body: object) => request(`${uri.replace(/\/$/, '')}/api/2.0/mlflow/${path}`, body, token);
  let run: string | undefined;

  async function experimentId(): Promise<string> {
    const query = `experiments/get-by-name?experiment_name=${encodeURIComponent(experiment)}`;
    const found = await post(query, {});
    if (found.experiment) return found.experiment.experiment_id;
    return (await post('experiments/create', { name: experiment })).experiment_id!;
  }

  /** The run of the directory, or a new one with the configuration as its parameters. */
  async function begin(name: string, config: object, directory: string | undefined): Promise<string> {
    const kept = directory === undefined ? undefined : runIn(join(directory, FILE), uri);
    if (kept !== undefined) {
      await post('runs/update', { run_id: kept, status: 'RUNNING' });
      return kept;
    }
    const created = await post('runs/create', {
      experiment_id: await experimentId(),
      run_name: runName ?? name,
      start_time: Math.round(now()),
    });
    const id = created.run!.info.run_id;
    const params = paramsOf(config);
    for (let i = 0; i < params.length; i += BATCH.params) {
      await post('runs/log-batch', { run_id: id, params: params.slice(i, i + BATCH.params) });
    }
    if (directory !== undefined) {
      writeWholeSync(join(directory, FILE), `${JSON.stringify({ uri, run: id })}\n`, { where: 'mlflow' });
    }
    return id;
  }

  return {
    async start(info) {
      checkStart('mlflow', info);
      checkDescription('mlflow', info);
      run = await begin(info.name, info.config, info.directory);
    },
    async write(entry) {
      const { envSteps, metrics } = checkEntry('mlflow', entry);
      if (run === undefined) notStarted('mlflow');
      const timestamp = Math.round(now());
      const all = Object.entries(metrics)
        .filter(([, value]) => Number.isFinite(value))
        .map(([key, value]) => ({ key: nameOf(key), value, timestamp, step: envSteps }));
      for (let i = 0; i < all.length; i += BATCH.metrics) {
        await post('runs/log-batch', { run_id: run, metrics: all.slice(i, i + BATCH.metrics) });
      }
    },
    async close() {
      if (run === undefined) return;
      const ended = run;
      run = undefined;
      await post('runs/update', { run_id: ended, status: 'FINISHED', end_time: Math.round(now()) });
    },
  };
}

/** A name as the server takes it: letters, digits, `_`, `-`, `.`, `/` and blanks. */
const nameOf = (key: string) => key.replace(/[^\w\-. /]/g, '_');

/** Leaves of the configuration by their paths: `learners.agent_0.gamma`. */
function paramsOf(config: unknown, path = ''): { readonly key: string; readonly value: string }[] {
  if (typeof config === 'object' && config !== null && !Array.isArray(config)) {
    return Object.entries(config).flatMap(([name, value]) => paramsOf(value, path === '' ? name : `${path}.${name}`));
  }
  const value = typeof config === 'string' ? config : JSON.stringify(config);
  return value === undefined ? [] : [{ key: nameOf(path).slice(0, PARAM.key), value: value.slice(0, PARAM.value) }];
}

/** The run that a directory keeps, if it is on the same server. */
function runIn(file: string, uri: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const kept = parseJson(`mlflow: ${file}`, readFileSync(file, 'utf8')) as { uri?: unknown; run?: unknown } | null;
  return kept?.uri === uri && typeof kept.run === 'string' ? kept.run : undefined;
}

/** @throws CoplayError whose cause says that the server, not the code, is at fault: a run then goes on */
async function request(url: string, body: object, token: string | undefined): Promise<Answer> {
  const isRead = url.includes('?');
  const response = await fetch(url, {
    method: isRead ? 'GET' : 'POST',
    headers: { 'Content-Type': 'application/json', ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
    ...(!isRead && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => refuse(url, (error as { readonly cause?: unknown }).cause ?? error));
  const answer = (await response.json().catch(() => ({}))) as Answer;
  if (response.ok) return answer;
  if (isRead && answer.error_code === 'RESOURCE_DOES_NOT_EXIST') return {};
  const said = `${response.status} ${answer.error_code ?? ''} ${answer.message ?? ''}`.trim();
  return refuse(url, Object.assign(new Error(said), { code: `HTTP ${response.status}` }));
}

function refuse(url: string, cause: unknown): never {
  const got = cause instanceof Error ? cause.message || codeOf(cause) : show(cause);
  if (codeOf(cause) === '') fail('mlflow', `an answer of ${url}`, got, 'Start the server: mlflow server.');
  const complaint = {
    where: 'mlflow',
    expected: `an answer of ${url}`,
    got,
    remedy: 'Start the server: mlflow server.',
  };
  throw new CoplayError(complaint, { cause });
}
