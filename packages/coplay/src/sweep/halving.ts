import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeWholeSync } from '@coplay/core/node';
import { z } from 'zod';
import { endOf, type PlannedSweep, readSweepFile } from './directory';
import type { PlannedRun } from './plan';

/*
 * Asynchronous successive halving (ASHA): L. Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys
 * 2020, Algorithm 2. A rung is a number of environment steps. All settings are trained to the first rung; the best
 * 1/eta of those that have ended a rung so far are promoted to the next one, where their runs go on from their
 * checkpoints.
 */

/**
 * Settings that may be promoted from a rung: the best floor(n / eta) of the n that have ended it, less those that were
 * promoted before.
 *
 * @param scores    mean returns of the settings that have ended the rung; -Infinity for one that failed
 * @param promoted  settings that were promoted from this rung before
 */
export function promotable(
  scores: ReadonlyMap<number, number>,
  promoted: ReadonlySet<number>,
  eta: number,
): readonly number[] {
  const ranked = [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b);
  const candidates = ranked.slice(0, Math.floor(scores.size / eta));
  return candidates.flatMap(([setting, score]) => (promoted.has(setting) || score === -Infinity ? [] : [setting]));
}

const PROMOTIONS = 'halving.json';

const schema = z.strictObject({
  format: z.literal('coplay-sweep-halving'),
  version: z.literal(1, { error: 'version 1, which this version of Coplay reads' }),
  /** Environment steps of each rung. */
  rungs: z.array(z.int().min(1)).min(1),
  /** The rung that each setting is at, from 0, by the settings' numbers. */
  reached: z.array(z.int().min(0)),
});

/** The rung that each setting is trained to, from 0, by the settings' numbers. */
export function reachedRungs(directory: string, { runs }: PlannedSweep): number[] {
  const path = join(directory, PROMOTIONS);
  if (existsSync(path)) return readSweepFile(path, schema, 'decides again from the results').reached;
  return Array.from({ length: runs.at(-1)!.setting + 1 }, () => 0);
}

/** A warning if no setting can be promoted to the last rung; undefined if one can. */
export function tooFewSettings(settings: number, rungs: readonly number[], eta: number): string | undefined {
  let last = 0;
  for (let left = Math.floor(settings / eta); left > 0; left = Math.floor(left / eta)) last++;
  if (last >= rungs.length - 1) return undefined;
  const kept = `one of ${eta} settings goes on from each rung (${rungs.join(', ')} steps)`;
  const remedy = `Give ${eta ** (rungs.length - 1)} settings, or a larger halving.first.`;
  return `coplay sweep: ${kept}: of ${settings} settings none is trained beyond ${rungs[last]} steps. ${remedy}`;
}

/** A run up to a rung, from 0. */
export function runTo(run: PlannedRun, rung: number, rungs: readonly number[]): PlannedRun {
  return rung === rungs.length - 1 ? run : { ...run, envSteps: rungs[rung] };
}

/**
 * Promotes all settings that may be, and notes it in the sweep's directory.
 *
 * @returns the runs that follow from it, those of the highest rungs first
 */
export function promote(directory: string, planned: PlannedSweep): PlannedRun[] {
  const { rungs, sweep, runs } = planned;
  if (!rungs || !sweep.halving) return [];
  const reached = reachedRungs(directory, planned);
  const following: PlannedRun[] = [];
  for (let rung = rungs.length - 2; rung >= 0; rung--) {
    const scores = scoresAt(directory, planned, rung, reached);
    const promoted = new Set(reached.flatMap((own, setting) => (own > rung ? [setting] : [])));
    for (const setting of promotable(scores, promoted, sweep.halving.eta)) {
      reached[setting] = rung + 1;
      following.push(...runs.filter((run) => run.setting === setting).map((run) => runTo(run, rung + 1, rungs)));
    }
  }
  const text = JSON.stringify({ format: 'coplay-sweep-halving', version: 1, rungs, reached });
  if (following.length > 0) writeWholeSync(join(directory, PROMOTIONS), `${text}\n`, { where: 'coplay sweep' });
  return following;
}

/** Mean returns of the settings of which all seeds have ended a rung; -Infinity where one failed. */
function scoresAt(directory: string, planned: PlannedSweep, rung: number, reached: readonly number[]) {
  const scores = new Map<number, number>();
  for (const setting of reached.keys()) {
    if (reached[setting] < rung) continue;
    const seeds = planned.runs.filter((run) => run.setting === setting);
    const ends = seeds.map((run) => endOf(directory, runTo(run, rung, planned.rungs!)));
    if (ends.includes(undefined)) continue;
    const returns = ends.map((end) => ('error' in end! ? -Infinity : end!.mean));
    scores.set(setting, returns.reduce((sum, value) => sum + value, 0) / returns.length);
  }
  return scores;
}
