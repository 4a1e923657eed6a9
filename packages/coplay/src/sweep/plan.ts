import { checkOptions, createGenerator, fail, type Generator, show, streamSeed } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import type { Configuration, Settings } from '../configuration';

/** A value of a setting, as JSON holds it. */
export type SettingValue =
  | string
  | number
  | boolean
  | null
  | readonly SettingValue[]
  | { readonly [name: string]: SettingValue };

/** Settings of other axes with which an axis applies: `{ 'agents.kind': ['hop'] }`, all of them at once. */
export type When = Readonly<Record<string, readonly SettingValue[]>>;

/** Numbers between two ends. */
export interface Range {
  readonly from: number;
  readonly to: number;
  /** Numbers of a grid, both ends included, at least 2. Random search needs none. */
  readonly count?: number;
  /** `log`: equal ratios, and equally likely orders of magnitude; both ends above 0. Default `linear` */
  readonly scale?: 'linear' | 'log';
  /** Whether numbers are rounded to whole ones. Default false */
  readonly whole?: boolean;
  /** Default: always */
  readonly when?: When;
}

/** Numbers of a normal distribution; for random search only. */
export interface Normal {
  readonly mean: number;
  readonly deviation: number;
  /** Default: always */
  readonly when?: When;
}

/** What one setting may be: a list, of which all are equally likely in a random search, a range, or a distribution. */
export type Axis =
  | readonly SettingValue[]
  | { readonly values: readonly SettingValue[]; readonly when?: When }
  | Range
  | Normal;

/** Which settings are trained longer: ASHA, Li et al. 2020. */
export interface Halving {
  /** Environment steps after which settings are compared first, at least 1 and below `envSteps`. */
  readonly first: number;
  /** The best 1/eta of the settings go on, to eta times as many steps; at least 2. Default 3 */
  readonly eta?: number;
}

/** Many runs: settings to try, each with the same seeds. */
export interface Sweep {
  /** What all runs share, or, in a file of code, a function that makes it from the settings. */
  readonly configuration:
    | Omit<Configuration, 'seed' | 'directory' | 'log'>
    | ((settings: Settings) => Omit<Configuration, 'seed' | 'directory' | 'log'>);
  /** What differs, by paths into the configuration: `{ 'agents.ppo.gamma': [0.95, 0.99] }`. */
  readonly axes?: Readonly<Record<string, Axis>>;
  /** Settings one by one, in place of axes. */
  readonly list?: readonly Settings[];
  /** All combinations of the axes, or `samples` random ones. Default `grid` */
  readonly search?: 'grid' | 'random';
  /** Settings that a random search draws, at least 1. */
  readonly samples?: number;
  /** Of the random search, at least 0. Default 0 */
  readonly drawSeed?: number;
  /**
   * Successive halving: all settings are trained for a first number of steps. The best 1/eta of them go on to eta times
   * as many steps, the best 1/eta of these again, up to the configuration's `envSteps`. Default: all runs are whole
   */
  readonly halving?: Halving;
  /** Seeds of each setting: a list, or how many from 1 on. Default 1 */
  readonly seeds?: number | readonly number[];
  /** Episodes of the evaluation after each run, at least 1. Default 200 */
  readonly episodes?: number;
  /** Where its files go. Default: what `--directory` says */
  readonly directory?: string;
}

/** One run of a sweep. */
export interface PlannedRun {
  /** Also the name of its folder: `003-seed-1`. */
  readonly name: string;
  /** Index of its settings, from 0. */
  readonly setting: number;
  readonly settings: Settings;
  readonly seed: number;
  /** Where it ends for now, in successive halving. Default: the configuration's `envSteps` */
  readonly envSteps?: number;
}

const finite = z.number();
const whole = z.int().min(0);
const values = z.array(z.json()).min(1);
const when = z.record(z.string(), values).optional();
const range = z
  .strictObject({
    from: finite,
    to: finite,
    count: z.int().min(2).optional(),
    scale: z.enum(['linear', 'log']).default('linear'),
    whole: z.boolean().default(false),
    when,
  })
  .refine(({ from, to }) => from < to, 'from below to')
  .refine(({ from, scale }) => scale === 'linear' || from > 0, 'a range above 0 for scale log')
  .refine(
    ({ from, to, whole }) => !whole || (Number.isInteger(from) && Number.isInteger(to)),
    'whole ends for whole numbers',
  );
const normal = z.strictObject({ mean: finite, deviation: finite.min(0), when });
const axis = z.union(
  [values.transform((list) => ({ values: list, when: undefined })), z.strictObject({ values, when }), range, normal],
  {
    error: 'a list of values, { values }, { from, to }, or { mean, deviation }',
  },
);

const schema = z
  .strictObject({
    configuration: z.custom<Sweep['configuration']>((value) => typeof value === 'function' || isRecord(value), {
      error: 'a configuration of `coplay train`, without seed and directory',
    }),
    axes: z
      .record(z.string(), axis)
      .refine((axes) => Object.keys(axes).length > 0, 'at least one axis')
      .optional(),
    list: z.array(z.record(z.string(), z.json())).min(1).optional(),
    search: z.enum(['grid', 'random']).default('grid'),
    samples: z.int().min(1).optional(),
    drawSeed: whole.default(0),
    halving: z.strictObject({ first: z.int().min(1), eta: z.int().min(2).default(3) }).optional(),
    seeds: z
      .union([z.int().min(1), z.array(whole).min(1)], { error: 'how many, at least 1, or a list of seeds' })
      .default(1),
    episodes: z.int().min(1).default(200),
    directory: z.string().min(1).optional(),
  })
  .refine(({ axes, list }) => (axes === undefined) !== (list === undefined), 'either axes or list')
  .refine(
    ({ search, samples }) => (search === 'random') === (samples !== undefined),
    'samples with search random, and only there',
  );

/** {@link Sweep} with defaults filled in. */
export type CheckedSweep = z.infer<typeof schema>;
type CheckedAxis = z.infer<typeof axis>;

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The default export of a sweep's file in TypeScript or JavaScript, returned as it is; an editor knows its type. */
export function defineSweep(sweep: Sweep): Sweep {
  checkArgument('defineSweep', 'sweep', z.looseObject({}), sweep);
  return sweep;
}

/** Checks a sweep and fills in defaults. @throws CoplayError that names the first thing that is wrong */
export function checkSweep(where: string, sweep: unknown): CheckedSweep {
  const checked = checkOptions(where, schema, sweep as Sweep) as CheckedSweep;
  for (const name of ['seed', 'directory', 'log']) {
    if (typeof checked.configuration === 'object' && Object.hasOwn(checked.configuration, name)) {
      fail(`${where}: configuration`, `no ${name}`, show((checked.configuration as Settings)[name]), OWN[name]);
    }
  }
  const paths = [
    ...Object.keys(checked.axes ?? {}),
    ...(checked.list ?? []).flatMap((settings) => Object.keys(settings)),
  ];
  const own = paths.find((path) => Object.hasOwn(OWN, path));
  if (own !== undefined) fail(where, 'settings other than seed, directory and log', show(own), OWN[own]);
  const inner = paths.find((path) => paths.some((other) => other.startsWith(`${path}.`)));
  if (inner !== undefined)
    fail(where, 'settings that are no part of each other', show(inner), 'Name the inner ones only.');
  for (const [path, { when: conditions = {} }] of Object.entries(checked.axes ?? {})) {
    const names = Object.keys(checked.axes ?? {});
    const before = names.slice(0, names.indexOf(path));
    const unknown = Object.keys(conditions).find((other) => !before.includes(other));
    if (unknown === undefined) continue;
    const remedy = 'Put the axis that a condition names first.';
    fail(`${where}: axis ${path}`, `when with axes before it: ${before.join(', ') || 'none'}`, show(unknown), remedy);
  }
  if (Array.isArray(checked.seeds)) {
    const twice = checked.seeds.find((seed, i, all) => all.indexOf(seed) < i);
    if (twice !== undefined) fail(`${where}: seeds`, 'each seed once', `${twice} twice`, 'Remove one of them.');
  }
  return checked;
}

/** What a sweep decides itself, and how. */
const OWN: Readonly<Record<string, string>> = {
  seed: 'Use seeds of the sweep: seeds: 5.',
  directory: 'Use directory of the sweep: each run has a folder in it.',
  log: 'Leave it out: a run of a sweep writes log.jsonl.',
};

/**
 * All runs of a sweep, in a fixed order: settings, then seeds.
 *
 * @throws CoplayError for a range without a count in a grid, or settings that come twice
 */
export function planOf(where: string, sweep: CheckedSweep): PlannedRun[] {
  const all = sweep.list ?? (sweep.search === 'grid' ? gridOf(where, sweep.axes!) : samplesOf(sweep));
  // In a list the order of names means nothing.
  const texts = all.map((settings) => JSON.stringify(Object.fromEntries(Object.entries(settings).sort())));
  const twice = texts.find((text, i) => texts.indexOf(text) < i);
  if (twice !== undefined && sweep.search === 'grid') {
    fail(where, 'settings that differ', `${twice} twice`, 'Remove one of them.');
  }
  const seeds = typeof sweep.seeds === 'number' ? Array.from({ length: sweep.seeds }, (_, i) => i + 1) : sweep.seeds;
  const digits = String(Math.max(all.length - 1, 100)).length;
  return all.flatMap((settings, setting) =>
    seeds.map((seed) => ({ name: `${String(setting).padStart(digits, '0')}-seed-${seed}`, setting, settings, seed })),
  );
}

/**
 * Environment steps of the rungs of successive halving: the first, each eta times the one before, and at last those of
 * a whole run.
 */
export function rungsOf(first: number, eta: number, total: number): number[] {
  const rungs: number[] = [];
  for (let steps = first; steps < total; steps *= eta) rungs.push(steps);
  return [...rungs, total];
}

/** All combinations; the last axis changes fastest. */
function gridOf(where: string, axes: Readonly<Record<string, CheckedAxis>>): Settings[] {
  let all: Settings[] = [{}];
  for (const [path, one] of Object.entries(axes)) {
    const points = pointsOf(where, path, one);
    all = all.flatMap((settings) =>
      applies(one, settings) ? points.map((value) => ({ ...settings, [path]: value })) : [settings],
    );
  }
  return all;
}

function pointsOf(where: string, path: string, one: CheckedAxis): readonly unknown[] {
  if ('values' in one) return one.values;
  if ('mean' in one || one.count === undefined) {
    const remedy = "Give values or { from, to, count }, or search: 'random' and samples.";
    return fail(`${where}: axis ${path}`, 'points of a grid', show(one), remedy);
  }
  const { count } = one;
  return Array.from({ length: count }, (_, i) => numberAt(one, i / (count - 1)));
}

function samplesOf({ axes, samples, drawSeed }: CheckedSweep): Settings[] {
  return Array.from({ length: samples! }, (_, sample) => {
    let settings: Settings = {};
    for (const [path, one] of Object.entries(axes!)) {
      // A stream for each axis and sample: another axis or more samples don't change what was drawn.
      const generator = createGenerator(streamSeed(drawSeed, `sweep ${path} ${sample}`));
      if (applies(one, settings)) settings = { ...settings, [path]: draw(one, generator) };
    }
    return settings;
  });
}

function draw(one: CheckedAxis, generator: Generator): unknown {
  if ('values' in one) return one.values[generator.integer(one.values.length)];
  if ('mean' in one) return one.mean + one.deviation * generator.normal();
  // Rounded, the ends of a range would be half as likely as the numbers between them.
  if (one.whole && one.scale === 'linear') return one.from + generator.integer(one.to - one.from + 1);
  return numberAt(one, generator.uniform());
}

/** The number at a share, 0 to 1, of the way through a range. */
function numberAt({ from, to, scale, whole }: z.infer<typeof range>, share: number): number {
  if (share === 0) return from;
  if (share === 1) return to;
  const number = scale === 'log' ? from * (to / from) ** share : from + (to - from) * share;
  return whole ? Math.round(number) : number;
}

function applies({ when: conditions = {} }: CheckedAxis, settings: Settings): boolean {
  return Object.entries(conditions).every(
    ([path, allowed]) =>
      Object.hasOwn(settings, path) &&
      allowed.some((value) => JSON.stringify(value) === JSON.stringify(settings[path])),
  );
}
