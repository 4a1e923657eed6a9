import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fail } from '@coplay/core';
import { loadCheckpoint } from '@coplay/trainers/checkpoint';
import { command, JSON_FLAG, wholeNumber } from '../command';
import { ALLOW_CODE, configurationIn, holding, trustOf } from '../configuration';
import { train, watchedRun } from './train';
import { checkpointPath, STEP_FLAG, type Step, stepOf } from './trained';

/** `coplay resume` */
export const resumeCommand = command({
  usage: 'resume RUN [--steps N]',
  summary: 'Goes on with a run of `coplay train` from its newest good checkpoint, or that of --step.',
  words: { least: 1, most: 1 },
  flags: {
    steps: { value: 'N', what: 'environment steps in all, those done included; default: as it was configured' },
    ...STEP_FLAG,
    ...JSON_FLAG,
    ...ALLOW_CODE,
  },
  async run([directory], flags, terminal) {
    const steps = wholeNumber(flags, 'steps', 1);
    const configured = await configurationIn(directory, trustOf(flags));
    const configuration = { ...configured, envSteps: steps ?? configured.envSteps };
    const { run, last } = await watchedRun(configuration, directory, terminal);
    const step = stepOf(directory, flags);
    return holding(run, async () => {
      if (step !== undefined) terminal.err(await goBack(directory, step, configuration.envSteps));
      if (!(await run.resume())) terminal.err(`There is no checkpoint in ${directory} yet: it begins at step 0.`);
      refuseDone(directory, run.envSteps, configuration.envSteps);
      return train(run, configuration, directory, { terminal, flags }, last);
    });
  },
});

/**
 * Makes one checkpoint the only one, so that the run goes on from it, now and after an interrupt. All checkpoints move
 * to another folder of the run.
 *
 * @returns a line that says so
 */
async function goBack(directory: string, step: Step, envSteps: number): Promise<string> {
  const present = join(directory, 'checkpoints');
  const checkpoint = await loadCheckpoint(checkpointPath(directory, step));
  refuseDone(directory, checkpoint.step, envSteps);
  let old = 1;
  while (existsSync(`${present}.old-${old}`)) old++;
  // The copy is whole before anything moves: a kill in between leaves all checkpoints.
  const copy = `${present}.new`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(checkpoint.path, join(copy, basename(checkpoint.path)), { recursive: true });
  renameSync(present, `${present}.old-${old}`);
  renameSync(copy, present);
  return `It goes on from ${basename(checkpoint.path)}; all checkpoints moved to ${present}.old-${old}.`;
}

function refuseDone(directory: string, done: number, envSteps: number): void {
  if (done < envSteps) return;
  const remedy = `Ask for more: coplay resume ${directory} --steps ${2 * done}`;
  fail('coplay resume', `fewer than ${envSteps} steps done`, `${done}`, remedy);
}
