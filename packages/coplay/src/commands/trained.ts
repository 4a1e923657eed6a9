import { fail, splitSeed } from '@coplay/core';
import type { Flags, Terminal } from '../command';
import { type BuiltRun, configurationIn, runOf } from '../configuration';

/** A run that was trained. */
export interface TrainedRun extends BuiltRun {
  /** What seeds of what is played afterwards are made of, unless one is asked for. */
  readonly seed: number;
}

/** Children of a run's seed, apart from those that `selfPlay` uses: nothing that is played afterwards repeats what was seen in training. */
const AFTERWARDS = { evaluate: 100, record: 101 };

/** The seed of what a command plays with a run, unless one is asked for. */
export function seedFor(command: keyof typeof AFTERWARDS, { seed }: TrainedRun): number {
  return splitSeed(seed, AFTERWARDS[command]);
}

/**
 * A run with the parameters of its newest good checkpoint. Nothing in its directory changes.
 *
 * @param flags  of the command, which has `--allow-code`
 * @throws CoplayError where there is no checkpoint, or the run's code is a stranger's
 */
export async function trainedRun(directory: string, flags: Flags, { err }: Terminal): Promise<TrainedRun> {
  const configuration = await configurationIn(directory, flags);
  const { run, game } = await runOf(configuration, directory, { warn: err });
  if (await run.resume()) return { run, game, seed: configuration.seed };
  run.dispose();
  return fail(
    'coplay',
    `a checkpoint in ${directory}/checkpoints`,
    'none',
    `Train it first: coplay resume ${directory}`,
  );
}
