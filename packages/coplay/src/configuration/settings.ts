import { fail, show } from '@coplay/core';
import { isPlainRecord } from './networks';
import { FIELDS } from './schema';

/** Values of a configuration by their paths: `{ 'agents.ppo.gamma': 0.97 }`. */
export type Settings = Readonly<Record<string, unknown>>;

/** Names that would change a record's prototype. */
const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];

/**
 * A configuration with other values at some paths. Records on the way to a path are made where there are none. Whether
 * the options exist is checked later, where the configuration is used.
 *
 * @param where  of what, for messages
 * @throws CoplayError for a path that is no path, or leads through something that is no record, such as code
 */
export function withSettings(where: string, configuration: unknown, settings: Settings): unknown {
  return Object.entries(settings).reduce((changed, [path, value]) => {
    const names = path.split('.');
    if (names.some((name) => name === '' || FORBIDDEN.includes(name))) {
      fail(where, 'a path of names with points between them', show(path), "Write it like 'agents.ppo.gamma'.");
    }
    return replaced(where, changed, names, 0, value);
  }, configuration);
}

/**
 * The configuration of a sweep with some settings: its record with these values at their paths, or what its function
 * returns for them.
 */
export function configurationWith(where: string, configuration: unknown, settings: Settings): unknown {
  return typeof configuration === 'function' ? configuration(settings) : withSettings(where, configuration, settings);
}

function replaced(where: string, part: unknown, names: readonly string[], depth: number, value: unknown): unknown {
  if (depth === names.length) return value;
  if (part !== undefined && !isPlainRecord(part)) {
    const [place, path] = [names.slice(0, depth).join('.') || 'the configuration', names.join('.')];
    fail(where, `a record at ${place}, where ${path} leads`, show(part), 'Change the path, or that part of it.');
  }
  const name = names[depth];
  return { ...part, [name]: replaced(where, part?.[name], names, depth + 1, value) };
}

/**
 * Settings of `--set`: `envs=64`, `game.size=8`, `agents.ppo.learningRate=1e-3`, or `ppo.learningRate=1e-3` for short:
 * a name that is no field of a configuration is an option of its agents.
 * A value is JSON, or a text as it is.
 *
 * @throws CoplayError for one without a name or a value
 */
export function settingsOf(texts: readonly string[]): Settings {
  const entries = texts.map((text): [string, unknown] => {
    const at = text.indexOf('=');
    if (at < 1) fail('--set', 'FIELD=VALUE', show(text), 'Write it such as --set ppo.learningRate=1e-3.');
    const path = text.slice(0, at);
    return [FIELDS.has(path.split('.')[0]) ? path : `agents.${path}`, parsedValue(text.slice(at + 1))];
  });
  return Object.fromEntries(entries);
}

function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
