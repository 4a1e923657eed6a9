import { executorInfo } from '@coplay/tensor';
import type { Experiment } from './harness';
import { contestants } from './ppo/contestants';
import { type Pair, rowsOf, speedRatio } from './ppo/figures';
import { judge, makeTask, type Trial, type Weights } from './ppo/trial';

const KINDS: readonly Weights[] = ['own', 'shared'];

/** How fast is the whole loop, where does its time go, and how long does it take to hunt the stag? */
export const bench: Experiment = {
  name: 'ppo',
  description: 'stag hunt 4x4, 4 PPO agents: collected-and-learned environment steps per second, seconds to learn it',
  minutes: 5,
  seeds: 3,
  options: { steps: { what: 'environment steps of each run', default: '250000' } },
  bars: {
    own_speed: { what: 'steps per second relative to JAX, weights of their own (the goal is 2)', atLeast: 1 },
    shared_speed: { what: 'steps per second relative to JAX, shared weights (the goal is 2)', atLeast: 1 },
  },
  async run(context) {
    context.say((await executorInfo()).reason);
    const envSteps = context.isQuick ? 4 * 1024 : Number(context.options['steps']);
    const sides = contestants(context);
    const found = await context.seedLoop('all', async (seed) => {
      const trials: Partial<Record<Weights, Pair>> = {};
      // Whole runs in turns, one computing at a time: a busy moment of the machine meets neighbours of both sides.
      for (const weights of KINDS) {
        const pair: Partial<Record<'ours' | 'jax', Trial>> = {};
        for (const { key, run } of sides) {
          const task = makeTask(weights, seed, envSteps);
          pair[key] = judge(await run(task), task);
          context.say(`${weights}, ${key}: ${Math.round(pair[key].stepsPerSecond)} steps/s`);
        }
        trials[weights] = pair as Pair;
      }
      return trials as Record<Weights, Pair>;
    });
    const pairsOf = (weights: Weights) => found.map((trials) => trials[weights]);
    context.table(
      'Stag hunt 4x4, 4 agents: medians over seeds; where our time goes, as shares of an update',
      KINDS.flatMap((weights) => rowsOf(weights, pairsOf(weights))),
    );
    return {
      figures: { found },
      bars: { own_speed: speedRatio(pairsOf('own')), shared_speed: speedRatio(pairsOf('shared')) },
    };
  },
};
