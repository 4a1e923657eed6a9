import type { ActionSpaces, Agent, DType, Game, Log, Metrics, Saved } from '@coplay/core';
import type { Curve } from '@coplay/diagnostics/statistics';
import { type DreamerAgent, selfPlay } from '@coplay/trainers';
import type { SeedPlace } from '../../bench/harness';
import { type KeptOpenLoop, keepOpenLoop } from './open-loop';

/** How a run of a study is set. */
export interface Setting<Spaces extends ActionSpaces = number> {
  readonly game: Game<DType, Spaces>;
  readonly agents: readonly Agent<Saved, Spaces>[];
  /** Environments side by side */
  readonly envs: number;
  /** Steps of each environment between two phases of updates */
  readonly steps: number;
  readonly envSteps: number;
  /** Training return: the mean over the episodes that ended in the last so many environment steps */
  readonly window: number;
  /** Metrics that are kept as curves in addition to it */
  readonly metrics: readonly string[];
  /** Whose world model is shown recorded sequences after training, and how many steps of each it sees. Default: none */
  readonly openLoop?: { readonly agent: DreamerAgent; readonly context: number };
}

/** The results of a run. */
export interface Trained {
  /** Training return, mean over agents, over environment steps */
  readonly returns: Curve;
  readonly curves: Readonly<Record<string, Curve>>;
  /** Seconds of training until each point of `returns` */
  readonly seconds: readonly number[];
  /** Mean return of 100 episodes after training, mean over agents */
  readonly evaluated: number;
  /** Where it was asked for */
  readonly openLoop?: KeptOpenLoop;
}

/** Points of a curve, about. */
const POINTS = 128;

/** Trains, and keeps curves. */
export async function trainDreamer<Spaces extends ActionSpaces>(
  setting: Setting<Spaces>,
  seed: number,
  place: SeedPlace,
): Promise<Trained> {
  const { game, agents, envs, steps, envSteps, openLoop: shown } = setting;
  const curves = keptCurves(setting);
  const run = selfPlay({ game, agents, envs, steps, seed, log: [...place.log, curves.log] });
  await run.train({ envSteps });
  const { mean: evaluated } = await run.evaluate({ episodes: 100 });
  const openLoop = shown && (await keepOpenLoop(shown.agent, shown.context, seed));
  run.dispose();
  return { ...curves.result(), evaluated, ...(openLoop && { openLoop }) };
}

/** The last value of a curve up to a step; NaN before the first. */
export function valueAt({ steps, values }: Curve, step: number): number {
  return values[steps.filter((at) => at <= step).length - 1] ?? Number.NaN;
}

/** A log that keeps curves. */
function keptCurves({ envs, steps, envSteps, window, metrics: names }: Omit<Setting, 'game' | 'agents'>) {
  const curves: Record<string, { steps: number[]; values: number[] }> = {};
  for (const name of ['return', ...names]) curves[name] = { steps: [], values: [] };
  const every = Math.max(1, Math.floor(envSteps / (envs * steps) / POINTS));
  const recent: { at: number; count: number; sum: number }[] = [];
  const seconds: number[] = [];
  const start = performance.now();
  let latest: Metrics = {};
  const log: Log = {
    start: () => {},
    close: () => {},
    write({ envSteps: at, update, metrics }) {
      latest = { ...latest, ...metrics };
      const count = metrics['episode/count'];
      if (count > 0) recent.push({ at, count, sum: count * metrics['episode/return_mean'] });
      while (recent.length > 1 && recent[0].at <= at - window) recent.shift(); // the last one stays, however old
      if (update % every !== 0 || recent.length === 0) return;
      seconds.push((performance.now() - start) / 1000);
      latest['return'] =
        recent.reduce((sum, one) => sum + one.sum, 0) / recent.reduce((sum, one) => sum + one.count, 0);
      for (const [name, curve] of Object.entries(curves)) {
        if (latest[name] === undefined) continue;
        curve.steps.push(at);
        curve.values.push(latest[name]);
      }
    },
  };
  const result = (): Omit<Trained, 'evaluated' | 'openLoop'> => {
    const { return: returns, ...others } = curves;
    return { returns, curves: others, seconds };
  };
  return { log, result };
}
