import type { Game } from '@coplay/core';
import { learningCurves } from '@coplay/diagnostics';
import { mean } from '@coplay/diagnostics/statistics';
import type { Context } from '../../bench/harness';
import { drawOpenLoop } from './open-loop';
import { type Trained, valueAt } from './training';

/** How the runs of a study are shown. */
export interface Look {
  /** The game */
  readonly game: Game;
  /** The task's name: `Catch` */
  readonly name: string;
  /** Environment steps of each run */
  readonly envSteps: number;
  /** That of the runs, see `Setting` */
  readonly window: number;
  /** Returns to compare with, drawn as lines: `{ best: 1 }` */
  readonly references: Readonly<Record<string, number>>;
}

/** Shows the runs of all seeds as a table and a figure. @returns the results of a study of the return after training */
export async function reportReturns(context: Context, results: readonly Trained[], look: Look) {
  const { game, name, envSteps, window, references } = look;
  context.table(
    `${name}, ${envSteps} environment steps`,
    results.map((trained, i) => ({
      seed: context.seeds[i],
      'at half of them': valueAt(trained.returns, envSteps / 2),
      [`last ${window.toLocaleString('en')} steps`]: trained.returns.values.at(-1) ?? Number.NaN,
      'after training': trained.evaluated,
      ...trained.openLoop?.metrics,
      seconds: trained.seconds.at(-1) ?? 0,
    })),
  );
  const curves = results.map(({ returns }) => returns).filter(({ steps }) => steps.length > 1);
  if (curves.length > 0) {
    const options = { title: `${name}: training return`, y: 'mean return', references };
    await context.figure('returns', await learningCurves({ DreamerV3: curves }, options));
  }
  const [{ openLoop }] = results;
  if (openLoop) await drawOpenLoop(context, game, openLoop);
  return {
    figures: { envSteps, results: results.map(summary) },
    bars: { return_after_training: mean(results.map(({ evaluated }) => evaluated)) },
  };
}

/** The results to commit: no pictures. */
function summary({ openLoop, ...trained }: Trained) {
  return { ...trained, ...openLoop?.metrics };
}
