import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fail } from '@coplay/core';
import type { SelfPlay } from '@coplay/trainers';
import { loadCheckpoint } from '@coplay/trainers/checkpoint';
import { command, JSON_FLAG, wholeNumber } from '../command';
import { ALLOW_CODE, configurationIn, holding, trustOf } from '../configuration';
import { train, watchedRun } from './train';
import { checkpointName, checkpointPath, STEP_FLAG, type Step, stepOf, stepsIn } from './trained';

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
      if (step !== undefined) terminal.err(await goBack(run, directory, step, configuration.envSteps));
      if (!(await run.resume())) terminal.err(`There is no checkpoint in ${directory} yet: it begins at step 0.`);
      refuseDone(directory, run.envSteps, configuration.envSteps);
      return train(run, configuration, directory, { terminal, flags }, last);
    });
  },
});

/**
 * Makes a checkpoint the newest one, so that the run goes on from it, now and after an interrupt. Later checkpoints,
 * and a best state that is later, move to another folder of the run. Only whole folders are renamed, the newest first:
 * a kill in between leaves a run that goes on from one of its checkpoints.
 *
 * @returns a line that says so
 */
async function goBack(run: SelfPlay, directory: string, step: Step, envSteps: number): Promise<string> {
  const checkpoints = join(directory, 'checkpoints');
  const { path, step: target, saved } = await loadCheckpoint(checkpointPath(directory, step));
  refuseDone(directory, target, envSteps);
  await run.restore(saved); // refuses another run's before anything moves
  const name = basename(path);
  if (!existsSync(join(checkpoints, name))) {
    const copy = join(checkpoints, 'copy-of-best');
    rmSync(copy, { recursive: true, force: true });
    cpSync(path, copy, { recursive: true });
    renameSync(copy, join(checkpoints, name));
  }
  const later = stepsIn(checkpoints).filter((other) => other > target);
  const best = stepsIn(join(directory, 'best')).some((other) => other > target) ? ['best'] : [];
  const moved = [...best, ...later.sort((a, b) => b - a).map((other) => join('checkpoints', checkpointName(other)))];
  if (moved.length === 0) return `It goes on from ${name}.`;
  let old = 1;
  while (existsSync(`${checkpoints}.old-${old}`)) old++;
  const place = `${checkpoints}.old-${old}`;
  mkdirSync(place);
  for (const one of moved) renameSync(join(directory, one), join(place, basename(one)));
  return `It goes on from ${name}; what is later moved to ${place}: ${moved.map((one) => basename(one)).join(', ')}.`;
}

function refuseDone(directory: string, done: number, envSteps: number): void {
  if (done < envSteps) return;
  const remedy = `Ask for more: coplay resume ${directory} --steps ${2 * done}`;
  fail('coplay resume', `fewer than ${envSteps} steps done`, `${done}`, remedy);
}
