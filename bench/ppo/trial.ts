import { median } from '@coplay/diagnostics/statistics';
import { ppoPresets } from '@coplay/trainers';

/** Who shares weights with whom. */
export type Weights = 'own' | 'shared';

/** The settings of both sides: the same game, the same algorithm with the same numbers. */
export interface Task {
  readonly seed: number;
  readonly weights: Weights;
  /** At least; rounded up to whole rollouts. Schedules end there. */
  readonly envSteps: number;
  readonly size: number;
  readonly agents: number;
  readonly hares: number;
  readonly envs: number;
  readonly steps: number;
  readonly ppo: typeof ppoPresets.stagHunt;
}

/** The task of a seed: stag hunt 4x4 with one stag and 4 hares, and the settings of {@link ppoPresets.stagHunt}. */
export function makeTask(weights: Weights, seed: number, envSteps: number): Task {
  const game = { size: 4, agents: 4, hares: 4 };
  return { seed, weights, envSteps, ...game, envs: 32, steps: 32, ppo: ppoPresets.stagHunt };
}

/** The results of an update. */
export interface Update {
  /** Since the run began, when it ended. */
  readonly seconds: number;
  /** Episodes that ended in it. */
  readonly episodes: number;
  /** Of those, over agents; null if none did. */
  readonly meanReturn: number | null;
}

/** Shares of the time of an update. */
export interface Split {
  readonly environment: number;
  readonly acting: number;
  readonly learning: number;
  readonly rest: number;
}

/** A run as its side tells it. */
export interface Run {
  readonly name: string;
  /** Of compiling before the first update began; 0 where that's part of the updates. */
  readonly compileSeconds: number;
  readonly updates: readonly Update[];
  /** Medians over updates, where it can be told. */
  readonly split?: Split;
}

/** The evaluation of a run: the same rules for both sides. */
export interface Trial extends Run {
  /** Environment steps per second: the median over updates after the first few. */
  readonly stepsPerSecond: number;
  /** Of the whole run, compiling before it left out. */
  readonly overall: number;
  /** Steps and seconds until the goal; null if it never was. Compiling before the run is left out. */
  readonly goal: { readonly envSteps: number; readonly seconds: number } | null;
  /** Mean return of the episodes of the last fifth of the updates. */
  readonly last: number | null;
}

/** The mean return that counts as learned: of 3, the most that a partnership for the stag and two hares bring. */
export const GOAL = 2.75;
/** Updates whose episodes are averaged for that. */
const WINDOW = 10;
/** Updates that aren't timed, in which things are still compiled and caches cold. */
const FIRST = 5;

/** Judges a run. */
export function judge(run: Run, { envs, steps }: Task): Trial {
  const { updates } = run;
  const rollout = envs * steps;
  const durations = updates.map(({ seconds }, i) => seconds - (i === 0 ? 0 : updates[i - 1].seconds));
  const timed = durations.slice(Math.min(FIRST, durations.length - 1));
  const reached = updates.findIndex((_, i) => (meanOf(updates.slice(Math.max(0, i + 1 - WINDOW), i + 1)) ?? 0) >= GOAL);
  return {
    ...run,
    stepsPerSecond: rollout / median(timed),
    overall: (rollout * updates.length) / updates[updates.length - 1].seconds,
    goal: reached < 0 ? null : { envSteps: (reached + 1) * rollout, seconds: updates[reached].seconds },
    last: meanOf(updates.slice(Math.floor(0.8 * updates.length))),
  };
}

/** The mean return of the episodes of some updates. */
function meanOf(updates: readonly Update[]): number | null {
  let sum = 0;
  let episodes = 0;
  for (const update of updates) {
    sum += (update.meanReturn ?? 0) * update.episodes;
    episodes += update.episodes;
  }
  return episodes === 0 ? null : sum / episodes;
}
