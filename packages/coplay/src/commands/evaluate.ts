import { evaluate } from '@coplay/core';
import { textTable } from '@coplay/diagnostics';
import { answer, command, EXIT, JSON_FLAG, wholeNumber } from '../command';
import { ALLOW_CODE } from '../configuration';
import { STEP_FLAG, seedFor, trainedRun } from './trained';

/** `coplay evaluate` */
export const evaluateCommand = command({
  usage: 'evaluate RUN [--episodes N]',
  summary: 'Plays new episodes with the agents of a run, and prints the return of each.',
  words: { least: 1, most: 1 },
  flags: {
    episodes: { value: 'N', what: 'default 1000' },
    seed: {
      value: 'N',
      what: "of the episodes; default: a child of the run's, other than that of the evaluation after training",
    },
    ...STEP_FLAG,
    ...JSON_FLAG,
    ...ALLOW_CODE,
  },
  async run([directory], flags, terminal) {
    const episodes = wholeNumber(flags, 'episodes', 1) ?? 1000;
    const asked = wholeNumber(flags, 'seed');
    const trained = await trainedRun(directory, flags, terminal);
    const { game, agents, envSteps } = trained;
    const seed = asked ?? seedFor('evaluate', trained);
    try {
      const { byAgent, mean, lengthMean } = await evaluate(game, agents, { episodes, seed });
      answer(terminal, flags, { envSteps, episodes, seed, mean, lengthMean, byAgent }, () => {
        const table = textTable(Object.entries(byAgent).map(([agent, row]) => ({ agent, ...row })));
        return `${table}\nMean over agents ${mean.toFixed(3)}, ${episodes} episodes of ${lengthMean.toFixed(1)} steps.`;
      });
      return EXIT.ok;
    } finally {
      trained.dispose();
    }
  },
});
