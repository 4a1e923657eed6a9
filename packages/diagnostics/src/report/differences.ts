import type { Run } from '../runs';

/** A setting in which runs differ, or all settings of one run. */
export interface Setting {
  /** `learners.agent_0.gamma` */
  readonly path: string;
  /** As JSON, one for each run; `-` where a run doesn't have it. */
  readonly values: readonly string[];
}

/** Every leaf of a configuration by its path; lists of plain values are leaves. */
function flatten(value: unknown, path = ''): Map<string, string> {
  if (!isBranch(value)) return new Map([[path, JSON.stringify(value) ?? '-']]);
  const leaves = Object.entries(value).flatMap(([key, item]) => [...flatten(item, path ? `${path}.${key}` : key)]);
  return new Map(leaves.length > 0 ? leaves : [[path, JSON.stringify(value)]]);
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object') return false;
  return !Array.isArray(value) || value.some((item) => item !== null && typeof item === 'object');
}

/** The settings in which runs differ. */
export function differences(configs: readonly Run['config'][]): Setting[] {
  const all = configs.map((config) => flatten(config));
  const paths = [...new Set(all.flatMap((leaves) => [...leaves.keys()]))];
  const settings = paths.map((path) => ({ path, values: all.map((leaves) => leaves.get(path) ?? '-') }));
  return settings.filter(({ values }) => new Set(values).size > 1);
}

/** Runs that differ in nothing but the seed, by index, with a label that tells them from the others. */
export function groupRuns(runs: readonly Run[], names: readonly string[]): { label: string; runs: number[] }[] {
  const groups = new Map<string, number[]>();
  runs.forEach(({ config }, run) => {
    const { seed: _, ...rest } = config;
    const key = JSON.stringify([...flatten(rest)].sort());
    groups.set(key, [...(groups.get(key) ?? []), run]);
  });
  const members = [...groups.values()];
  const labels = members.map((list) => commonStart(list.map((run) => names[run])));
  return members.map((list, i) => ({ label: unique(labels, i), runs: list }));
}

/** Most settings that a table shows in one cell. */
const MOST_SHOWN = 4;

/**
 * The settings in which a run differs from the others, as text: `gamma 0.9, game.size 4`; one for each run. Learners
 * with the same setting give it once. Empty for runs that differ in nothing but the seed.
 */
export function settingTexts(runs: readonly Run[]): string[] {
  const chosen = runs.map(({ config: { game, envs, steps, agents, learners } }) => ({
    ...{ game, envs, steps, agents, learners },
  }));
  const settings = differences(chosen);
  return runs.map((_, run) => {
    const texts = [...new Set(settings.map(({ path, values }) => `${shortPath(path)} ${values[run]}`))];
    const more = texts.length > MOST_SHOWN ? [`and ${texts.length - MOST_SHOWN} more`] : [];
    return [...texts.slice(0, MOST_SHOWN), ...more].join(', ');
  });
}

/** Without the learner's name. */
function shortPath(path: string): string {
  return path.replace(/^learners\.[^.]+\./, '').replace(/^game\.options\./, 'game.');
}

/** What names begin with, without a number or mark at its end: `ppo` for `ppo-1` and `ppo-2`. */
function commonStart(names: readonly string[]): string {
  if (names.length === 1) return names[0];
  let length = 0;
  while (length < names[0].length && names.every((name) => name[length] === names[0][length])) length++;
  return names[0].slice(0, length).replace(/[-_./ ]+$|[-_./ ]*(seed|run)?[-_ ]?\d*$/, '') || names[0];
}

function unique(labels: readonly string[], i: number): string {
  const before = labels.slice(0, i).filter((label) => label === labels[i]).length;
  return before === 0 ? labels[i] : `${labels[i]} (${before + 1})`;
}

/** Last parts of directories, as many as it takes to tell them apart. */
export function runNames(directories: readonly string[]): string[] {
  const parts = directories.map((directory) => directory.split(/[/\\]/).filter((part) => part !== '' && part !== '.'));
  for (let depth = 1; depth < 6; depth++) {
    const names = parts.map((words) => words.slice(-depth).join('/') || '.');
    if (new Set(names).size === names.length) return names;
  }
  return directories.map((directory, i) => `${directory} (${i + 1})`);
}
