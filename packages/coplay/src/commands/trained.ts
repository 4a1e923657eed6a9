import { fail, streamSeed } from '@coplay/core';
import type { Flags, Terminal } from '../command';
import { type BuiltRun, configurationIn, runOf, trustOf } from '../configuration';

/** A run that was trained. */
export interface TrainedRun extends BuiltRun {
  /** The purpose of the seed's stream for games after the training, unless a seed is given. */
  readonly seed: number;
}

/**
 * The seed of the games that a command plays with a run, unless one is given: a stream of the run's seed for this
 * command alone, so that no games of the training, or of the table after it, are repeated.
 */
export function seedFor(command: 'evaluate' | 'record', { seed }: TrainedRun): number {
  return streamSeed(seed, `coplay ${command}`);
}

/**
 * A run with the parameters of its newest good checkpoint. Nothing in its directory changes.
 *
 * @param flags  of the command, which has `--allow-code`
 * @throws CoplayError where there is no checkpoint, or the run's code is a stranger's
 */
export async function trainedRun(directory: string, flags: Flags, { err }: Terminal): Promise<TrainedRun> {
  const configuration = await configurationIn(directory, trustOf(flags));
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
