import { fail } from '@coplay/core';
import type { SelfPlay } from '@coplay/trainers';
import type { Terminal } from '../command';
import { configurationIn, runOf } from '../configuration';

/**
 * A run with the parameters of its newest good checkpoint. Nothing in its directory changes.
 *
 * @throws CoplayError where there is no checkpoint
 */
export async function trainedRun(directory: string, { err }: Terminal): Promise<SelfPlay> {
  const run = runOf(configurationIn(directory), directory, err);
  if (await run.resume()) return run;
  run.dispose();
  return fail(
    'coplay',
    `a checkpoint in ${directory}/checkpoints`,
    'none',
    `Train it first: coplay resume ${directory}`,
  );
}
