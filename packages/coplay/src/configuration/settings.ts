import { fail, show } from '@coplay/core';
import { isPlainRecord } from './networks';

/** Fields of a configuration; the name of any other field is an option of its agents. */
const FIELDS: ReadonlySet<string> = new Set([
  ...['game', 'agents', 'seats', 'envs', 'steps', 'seed', 'envSteps', 'directory', 'log'],
  ...['checkpointEvery', 'keepCheckpoints', 'evaluateEvery', 'evaluateEpisodes', 'keepBest', 'patience'],
]);

/**
 * A configuration with other values in some fields: `envs=64`, `game.size=8`, `agents.ppo.learningRate=1e-3`, or
 * `ppo.learningRate=1e-3` for short. A value is JSON, or a text as it is.
 *
 * @param settings  of `--set`
 * @throws CoplayError for a setting without a value, and for a field inside of code
 */
export function withSettings(configuration: unknown, settings: readonly string[]): unknown {
  return settings.reduce((changed, setting) => {
    const at = setting.indexOf('=');
    const path = setting.slice(0, at).split('.');
    if (at < 1 || path.includes('')) {
      fail('--set', 'FIELD=VALUE', show(setting), 'Write it such as --set ppo.learningRate=1e-3.');
    }
    const whole = FIELDS.has(path[0]) ? path : ['agents', ...path];
    return put(changed, whole, parsedValue(setting.slice(at + 1)), whole.join('.'));
  }, configuration);
}

/** Agents are PPO where a configuration names none. */
const DEFAULTS: Readonly<Record<string, object>> = { agents: { kind: 'ppo' } };

function put(record: unknown, [name, ...rest]: readonly string[], value: unknown, whole: string): unknown {
  if (!isPlainRecord(record)) {
    const remedy = 'Change it in the file: code and lists are set as a whole.';
    fail(`--set ${whole}`, 'fields of a record', show(record), remedy);
  }
  const inner = Object.hasOwn(record, name) ? record[name] : (DEFAULTS[name] ?? {});
  // Computed, so that no name means anything special.
  return { ...record, [name]: rest.length === 0 ? value : put(inner, rest, value, whole) };
}

function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
