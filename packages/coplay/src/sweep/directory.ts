import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fail } from '@coplay/core';
import { writeWholeSync } from '@coplay/core/node';
import { z } from 'zod';
import {
  checkAllowed,
  checkedOf,
  checkParts,
  configurationWith,
  isCode,
  isJson,
  type LoadedCode,
  loadCode,
  noteOwnCode,
  type ReadConfiguration,
  readJsonFile,
} from '../configuration';
import { type CheckedSweep, checkSweep, type PlannedRun, planOf, rungsOf } from './plan';

/*
 * The files of a sweep. `plan.json` is its plan, written once; each run has a folder with its own files and, when it
 * has ended, `result.json` or `failure.json`. So any number of processes can work on one sweep: what is done is seen in
 * the folders alone.
 */

/** A sweep with all of its runs. */
export interface PlannedSweep {
  readonly sweep: CheckedSweep;
  readonly runs: readonly PlannedRun[];
  /** Environment steps of the rungs of successive halving, in a process that plans. */
  readonly rungs?: readonly number[];
  /** Present where the sweep is code that JSON can't hold. */
  readonly code?: Pick<LoadedCode, 'file' | 'files'>;
}

const PLAN = 'plan.json';

const planSchema = z.strictObject({
  format: z.literal('coplay-sweep'),
  version: z.literal(1, { error: 'version 1, which this version of Coplay reads' }),
  /** The sweep as data, or where its code is: the file and the checksums of its files, relative to the directory. */
  sweep: z.union([
    z.strictObject({ code: z.string(), files: z.record(z.string(), z.string()) }),
    z.record(z.string(), z.json()),
  ]),
  runs: z.array(
    z.strictObject({
      name: z.string(),
      setting: z.int().min(0),
      settings: z.record(z.string(), z.json()),
      seed: z.int().min(0),
    }),
  ),
});

/** What a run ended with. */
export interface RunResult {
  readonly envSteps: number;
  /** Mean return over agents and episodes of the evaluation after training. */
  readonly mean: number;
  /** Mean return of each agent. */
  readonly returns: Readonly<Record<string, number>>;
  /** Of training and evaluation in the process that ended the run. */
  readonly seconds: number;
}

const resultSchema = z.strictObject({
  envSteps: z.int().min(1),
  mean: z.number(),
  returns: z.record(z.string(), z.number()),
  seconds: z.number().min(0),
});
const failureSchema = z.strictObject({ error: z.string() });

/**
 * Reads a sweep's file, plans its runs, and tries all of their configurations, without a run.
 *
 * @throws CoplayError that names the first thing that is wrong, and the settings with which it is
 */
export async function readSweep(path: string): Promise<PlannedSweep> {
  const { exported, ...code } = isCode(path) ? await loadCode(path) : { exported: readJsonFile(path) };
  const sweep = checkSweep(path, exported);
  const runs = planOf(path, sweep);
  const planned = { sweep, runs, ...('file' in code && !isJson(exported) && { code }) };
  const totals = new Set<number>();
  for (const run of runs.filter(({ setting }, i) => setting !== runs[i - 1]?.setting)) {
    const { configuration } = configurationOf(path, planned, run);
    totals.add(configuration.envSteps);
    if (sweep.halving) checkFirstRung(path, sweep.halving.first, configuration, run);
    try {
      await checkParts(configuration);
    } catch (error) {
      if (error instanceof Error) error.message = `${path}: settings ${JSON.stringify(run.settings)}: ${error.message}`;
      throw error;
    }
  }
  if (!sweep.halving) return planned;
  const { first, eta } = sweep.halving;
  const [total, ...others] = totals;
  if (others.length > 0 || first >= total) {
    const remedy = 'Settings are compared after equal numbers of steps, before their runs are whole.';
    fail(
      `${path}: halving`,
      `the same envSteps in all settings, above first (${first})`,
      [...totals].join(', '),
      remedy,
    );
  }
  return { ...planned, rungs: rungsOf(first, eta, total) };
}

/** A run ends with a whole update: a rung within one would compare settings after different numbers of steps. */
function checkFirstRung(
  path: string,
  first: number,
  { envs, steps }: { readonly envs: number; readonly steps: number },
  { settings }: PlannedRun,
): void {
  const each = envs * steps;
  if (first % each === 0) return;
  const expected = `a multiple of ${each}, the steps of an update (envs ${envs}, steps ${steps})`;
  const remedy = `With these settings: ${JSON.stringify(settings)}. Give ${each * Math.ceil(first / each)}, for example.`;
  fail(`${path}: halving.first`, expected, String(first), remedy);
}

/** The configuration of one run, without its directory. */
export function configurationOf(where: string, { sweep, code }: PlannedSweep, run: PlannedRun): ReadConfiguration {
  const { settings, seed } = run;
  const made = configurationWith(where, sweep.configuration, settings) as object;
  const named = `${where}: settings ${JSON.stringify(settings)}`;
  return code
    ? checkedOf(named, { ...made, seed, log: [] }, { ...code, settings })
    : checkedOf(named, { ...made, seed, log: [] }, { file: '', files: {} });
}

/** Whether a sweep was begun in a directory. */
export function isBegun(directory: string): boolean {
  return existsSync(join(directory, PLAN));
}

/** Refuses the directory of a training run, whose files a sweep would overwrite. */
export function refuseRun(directory: string): void {
  const found = ['config.json', 'coplay.json'].find((name) => existsSync(join(directory, name)));
  if (found === undefined) return;
  fail('coplay sweep', 'a directory for a sweep', `${directory}, a run with ${found}`, 'Give another --directory.');
}

/**
 * Writes the plan of a new sweep.
 *
 * @param warn  receives a line where the code can't be noted as the user's own
 */
export function writePlan(directory: string, planned: PlannedSweep, warn: (line: string) => void): void {
  writeWholeSync(join(directory, PLAN), planText(directory, planned), { where: 'coplay sweep', makeFolder: true });
  if (planned.code) noteOwnCode(planned.code, warn);
}

/** Refuses a file that isn't the one that the sweep in the directory was begun with. */
export function checkSamePlan(directory: string, path: string, planned: PlannedSweep): void {
  const [kept, now] = [readPlan(directory), parsePlan(planText(directory, planned))];
  if (JSON.stringify(kept) === JSON.stringify(now)) return;
  const differs = ['sweep', 'runs'].filter(
    (part) => JSON.stringify(kept[part as 'runs']) !== JSON.stringify(now[part as 'runs']),
  );
  const got = `a file with another content (${differs.join(' and ')}) than ${join(directory, PLAN)} keeps`;
  const remedy = 'Put the file back as it was, or begin another sweep with another --directory.';
  fail(path, `the file that the sweep in ${directory} was begun with`, got, remedy);
}

function planText(directory: string, { sweep, runs, code }: PlannedSweep): string {
  const place = resolve(directory);
  const seen = (path: string) => relative(place, path);
  const files = Object.fromEntries(Object.entries(code?.files ?? {}).map(([path, checksum]) => [seen(path), checksum]));
  const source = code ? { code: seen(code.file), files } : sweep;
  return `${JSON.stringify({ format: 'coplay-sweep', version: 1, sweep: source, runs }, null, 2)}\n`;
}

function readPlan(directory: string): z.infer<typeof planSchema> {
  const path = join(directory, PLAN);
  if (!existsSync(path)) {
    const got = existsSync(directory) ? `${directory}, without ${PLAN}` : `${directory}, which does not exist`;
    fail('coplay', 'the directory of a sweep that `coplay sweep` began', got, 'Check the path.');
  }
  return readSweepFile(path, planSchema, "writes it again from the sweep's file");
}

const parsePlan = (text: string): z.infer<typeof planSchema> => planSchema.parse(JSON.parse(text));

/**
 * The sweep of a directory, for a process that does its runs. Code is loaded from where it is, if this user began the
 * sweep or allowed it.
 *
 * @param isAllowed  whether code of others may run: `--allow-code`
 */
export async function sweepIn(directory: string, isAllowed: boolean): Promise<PlannedSweep> {
  const { sweep: source, runs } = readPlan(directory);
  const path = join(directory, PLAN);
  if (!isKeptCode(source)) return { sweep: checkSweep(path, source), runs };
  const place = resolve(directory);
  const files = Object.fromEntries(Object.entries(source.files).map(([file, sum]) => [resolve(place, file), sum]));
  checkAllowed(directory, { file: resolve(place, source.code), files }, { allowCode: isAllowed });
  const { exported, ...code } = await loadCode(resolve(place, source.code), (loaded) => {
    const other = [...Object.keys(loaded), ...Object.keys(files)].find((file) => loaded[file] !== files[file]);
    if (other === undefined) return;
    fail(other, 'the code that the sweep was begun with', 'another content', 'Put it back as it was.');
  });
  return { sweep: checkSweep(path, exported), runs, code };
}

function isKeptCode(
  source: z.infer<typeof planSchema>['sweep'],
): source is { code: string; files: Record<string, string> } {
  return typeof source['code'] === 'string';
}

/** A run of the sweep in a directory, by its name. @throws CoplayError where the plan has none of this name */
export function plannedRun(directory: string, name: string): PlannedRun {
  const { runs } = readPlan(directory);
  const run = runs.find((one) => one.name === name);
  if (run) return run;
  const got = JSON.stringify(name);
  return fail(join(directory, PLAN), 'a run of the plan', got, 'Mount the directory of the sweep at the same path.');
}

/** How a run ended, as its folder says; undefined for one that hasn't. */
export function endOf(directory: string, run: PlannedRun): RunResult | { readonly error: string } | undefined {
  const [result, failure] = [join(directory, run.name, resultName(run)), join(directory, run.name, 'failure.json')];
  if (existsSync(result)) return readSweepFile(result, resultSchema, 'goes on from the last checkpoint of this run');
  if (existsSync(failure)) return readSweepFile(failure, failureSchema, 'tries this run again');
  return undefined;
}

/**
 * Reads a file that the sweep wrote.
 *
 * @param without  what `--resume` does where the file isn't there
 * @throws CoplayError where it was changed or damaged
 */
export function readSweepFile<T extends object>(path: string, schema: z.ZodType<T>, without: string): T {
  const remedy = `Was it changed or damaged? Remove it: then --resume ${without}.`;
  const got = readJsonFile(path, remedy);
  const read = schema.safeParse(got);
  if (read.success) return read.data;
  const [{ path: field, message }] = read.error.issues;
  return fail([path, ...field].join(': '), 'what coplay sweep writes', message, remedy);
}

/** The file of a result; in successive halving each rung but the last has its own. */
function resultName({ envSteps }: PlannedRun): string {
  return envSteps === undefined ? 'result.json' : `result-${envSteps}.json`;
}

/** Writes how a run ended. */
export function writeEnd(directory: string, run: PlannedRun, end: RunResult | { readonly error: string }): void {
  const file = join(directory, run.name, 'error' in end ? 'failure.json' : resultName(run));
  writeWholeSync(file, `${JSON.stringify(end, null, 2)}\n`, { where: 'coplay sweep', makeFolder: true });
}
