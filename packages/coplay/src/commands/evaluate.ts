import { textTable } from '@coplay/diagnostics';
import { command, EXIT, wholeNumber } from '../command';
import { trainedRun } from './trained';

/** `coplay evaluate` */
export const evaluateCommand = command({
  usage: 'evaluate RUN [--episodes N]',
  summary: 'Plays new episodes with the agents of a run of `coplay train`, and prints what each earns.',
  words: { least: 1, most: 1 },
  flags: {
    episodes: { value: 'N', what: 'default 1000' },
    seed: { value: 'N', what: "of the episodes; default: a child of the run's" },
    json: { what: 'as JSON' },
  },
  async run([directory], flags, terminal) {
    const run = await trainedRun(directory, terminal);
    const seed = wholeNumber(flags, 'seed');
    const episodes = wholeNumber(flags, 'episodes') ?? 1000;
    try {
      const found = await run.evaluate({ episodes, ...(seed !== undefined && { seed }) });
      const { byAgent, mean, lengthMean } = found;
      if (flags['json']) terminal.out(JSON.stringify({ envSteps: run.envSteps, episodes, mean, lengthMean, byAgent }));
      else {
        terminal.out(textTable(Object.entries(byAgent).map(([agent, row]) => ({ agent, ...row }))));
        terminal.out(`Mean over agents ${mean.toFixed(3)}, ${episodes} episodes of ${lengthMean.toFixed(1)} steps.`);
      }
      return EXIT.ok;
    } finally {
      run.dispose();
    }
  },
});
