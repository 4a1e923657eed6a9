import { fail } from '@coplay/core';
import { command, JSON_FLAG, wholeNumber } from '../command';
import { ALLOW_CODE, configurationIn, holding, trustOf } from '../configuration';
import { train, watchedRun } from './train';

/** `coplay resume` */
export const resumeCommand = command({
  usage: 'resume RUN [--steps N]',
  summary: 'Goes on with a run of `coplay train` from its newest good checkpoint.',
  words: { least: 1, most: 1 },
  flags: {
    steps: { value: 'N', what: 'environment steps in all, those done included; default: as it was configured' },
    ...JSON_FLAG,
    ...ALLOW_CODE,
  },
  async run([directory], flags, terminal) {
    const steps = wholeNumber(flags, 'steps', 1);
    const configured = await configurationIn(directory, trustOf(flags));
    const configuration = { ...configured, envSteps: steps ?? configured.envSteps };
    const { run, last } = await watchedRun(configuration, directory, terminal);
    return holding(run, async () => {
      if (!(await run.resume())) terminal.err(`There is no checkpoint in ${directory} yet: it begins at step 0.`);
      if (run.envSteps >= configuration.envSteps) {
        const remedy = `Ask for more: coplay resume ${directory} --steps ${2 * run.envSteps}`;
        fail('coplay resume', `fewer than ${configuration.envSteps} steps done`, `${run.envSteps}`, remedy);
      }
      return train(run, configuration, directory, { terminal, flags }, last);
    });
  },
});
