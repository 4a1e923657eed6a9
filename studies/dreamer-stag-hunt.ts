import { stagHunt } from '@coplay/envs';
import { sharedDreamerAgents } from '@coplay/trainers';
import type { Experiment } from '../bench/harness';
import { reportReturns } from './dreamer/report';
import { trainDreamer } from './dreamer/training';

/** Do Dreamers that share their weights get past the hares in self-play? */
export const study: Experiment = {
  name: 'dreamer-stag-hunt',
  description: 'DreamerV3 in self-play on the stag hunt 4x4, weights shared by four agents: mean return',
  minutes: 120,
  seeds: 3,
  options: { steps: { what: 'environment steps of each seed', default: '128000' } },
  bars: {
    return_after_training: {
      what: 'mean return of 100 episodes after training, mean over agents and seeds (hares alone pay 1)',
      atLeast: 2,
    },
  },
  async run(context) {
    const window = 2000;
    const envSteps = context.isQuick ? 256 : Number(context.options['steps']);
    const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
    const metrics = ['loss/rec/planes', 'loss/dyn', 'loss/rew', 'loss/legal', 'dreamer/ent_action', 'episode/length'];
    const results = await context.seedLoop('shared', (seed, place) => {
      const agents = sharedDreamerAgents({
        ...{ game, size: { preset: 'nano', stoch: 16, classes: 8, units: 64 } },
        ...{ batchSize: 16, sequenceLength: 16, starts: 8, horizon: 12 },
        // With an entropy of 3e-3 throughout, half as many steps and a quarter of the updates, one seed stayed at the
        // hares (0.97).
        ...{ trainRatio: 16, entropyScale: { from: 0.04, to: 0 }, discountHorizon: 100 },
      });
      const openLoop = { agent: agents[0], context: 6 };
      return trainDreamer({ game, agents, envs: 4, steps: 8, envSteps, window, metrics, openLoop }, seed, place);
    });
    return reportReturns(context, results, {
      game,
      name: 'Stag hunt 4x4',
      envSteps,
      window,
      references: { hares: 1, stag: 2.5 },
    });
  },
};
