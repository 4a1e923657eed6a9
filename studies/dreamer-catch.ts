import { catchGame } from '@coplay/envs';
import { dreamerAgent } from '@coplay/trainers';
import type { Experiment } from '../bench/harness';
import { reportReturns } from './dreamer/report';
import { trainDreamer } from './dreamer/training';

/** Does Dreamer learn that a single pixel, seen once, decides the reward nine steps later? */
export const study: Experiment = {
  name: 'dreamer-catch',
  description: 'DreamerV3 on bsuite Catch: mean return',
  minutes: 45,
  seeds: 5,
  options: { steps: { what: 'environment steps of each seed', default: '24000' } },
  bars: {
    return_after_training: { what: 'mean return of 100 episodes after training, mean over seeds', atLeast: 0.9 },
  },
  async run(context) {
    const window = 1000;
    const envSteps = context.isQuick ? 256 : Number(context.options['steps']);
    const game = catchGame();
    const losses = ['loss/rec/planes', 'loss/dyn', 'loss/rew', 'dreamer/ent_action'];
    const results = await context.seedLoop('nano', (seed, place) => {
      const agents = game.agents.map((id) =>
        dreamerAgent({
          ...{ game, id, size: { preset: 'nano', stoch: 16, units: 64 } },
          ...{ batchSize: 16, sequenceLength: 10, horizon: 10, trainRatio: 80 }, // one update in two steps
          ...{ entropyScale: 3e-3, discountHorizon: 50 },
        }),
      );
      const openLoop = { agent: agents[0], context: 3 };
      const setting = { game, agents, envs: 1, steps: 16, envSteps, window, metrics: losses, openLoop };
      return trainDreamer(setting, seed, place);
    });
    return reportReturns(context, results, { game, name: 'Catch', envSteps, window, references: { best: 1 } });
  },
};
