import { learningCurves } from '@coplay/diagnostics';
import { mean, median } from '@coplay/diagnostics/statistics';
import { pendulum } from '@coplay/envs';
import { dreamerAgent } from '@coplay/trainers';
import { type Context, type Experiment, learningColumns, reachedOrNever, stepsToReach } from '../bench/harness';
import { type Trained, trainDreamer, valueAt } from './dreamer/training';

const GOAL = -200;

/** Environment steps at which the training return is shown. */
const SHOWN = [2000, 4000, 6000, 10_000, 15_000, 20_000, 30_000];

const METRICS = ['loss/rec/vector', 'loss/rew', 'loss/value', 'dreamer/rand_action'];

/** Does a nano Dreamer learn with continuous actions? */
export const study: Experiment = {
  name: 'dreamer-pendulum',
  description: 'DreamerV3, nano, with continuous actions on Pendulum-v1: return after 30,000 steps',
  minutes: 120,
  seeds: 10,
  options: { steps: { what: 'environment steps of each seed', default: '30000' } },
  bars: {
    return: { what: 'mean over seeds of the return of 100 episodes after training, actions drawn', atLeast: GOAL },
  },
  async run(context) {
    const envSteps = context.isQuick ? 640 : Number(context.options['steps']);
    const game = pendulum();
    const results = await context.seedLoop('dreamer', (seed, place) => {
      const agent = dreamerAgent({
        ...{ game, id: 'agent_0', size: 'nano' },
        ...{ batchSize: 8, sequenceLength: 16, trainRatio: 64 }, // one update in two steps
        ...{ learningRate: { from: 1e-3, to: 1e-4, by: 0.5 }, warmUp: 100, replayLatents: false },
      });
      const setting = { game, agents: [agent], envs: 1, steps: 20, envSteps, window: 2000, metrics: METRICS };
      return trainDreamer(setting, seed, place);
    });
    await show(context, results, envSteps);
    return { figures: { envSteps, results }, bars: { return: mean(results.map(({ evaluated }) => evaluated)) } };
  },
};

async function show(context: Context, results: readonly Trained[], envSteps: number): Promise<void> {
  const at = SHOWN.filter((step) => step <= envSteps);
  context.table(
    'Pendulum-v1: training return, episodes that ended in the last 2,000 steps',
    results.map((trained, i) => ({
      seed: context.seeds[i],
      ...Object.fromEntries(at.map((step) => [`${step / 1000}k`, valueAt(trained.returns, step)])),
      [`steps to ${GOAL}`]: reachedOrNever(stepsToReach(trained.returns, GOAL)),
      'after training': trained.evaluated,
      seconds: trained.seconds.at(-1) ?? 0,
    })),
  );
  const columns = learningColumns(
    results.map(({ evaluated }) => evaluated),
    GOAL,
  );
  context.table('return after training', [{ ...columns, 'median seconds': median(results.map(secondsOf)) }]);
  if (results.some(({ returns }) => returns.steps.length < 2)) return;
  const options = { title: 'Pendulum-v1: training return', y: 'mean return', references: { goal: GOAL } };
  await context.figure('returns', await learningCurves({ dreamer: results.map(({ returns }) => returns) }, options));
}

function secondsOf({ seconds }: Trained): number {
  return seconds.at(-1) ?? 0;
}
