import { learningCurves } from '@coplay/diagnostics';
import { bootstrap, mean, median } from '@coplay/diagnostics/statistics';
import { cartPole } from '@coplay/envs';
import { dreamerAgent } from '@coplay/trainers';
import type { Context, Experiment } from '../bench/harness';
import { type Trained, trainDreamer, valueAt } from './dreamer/training';

const SCHEDULES = ['joint', 'coupled', 'separate'] as const;

/** Steps at which the return is judged, and from which on it must not fall again. */
const JUDGED = 16_000;
const LOSSES = ['loss/rec/vector', 'loss/rew', 'loss/con', 'loss/policy', 'loss/value'];

/** Does a nano Dreamer learn CartPole, keep it, and does it matter how world model and actor-critic take turns? */
export const study: Experiment = {
  name: 'dreamer-cartpole',
  description: 'DreamerV3, 99,109 parameters, on CartPole-v1: three schedules, 32,000 steps',
  minutes: 180,
  seeds: 10,
  options: {
    steps: { what: 'environment steps of each seed', default: '32000' },
    'other-seeds': { what: 'seeds of the schedules other than joint', default: '5', isSelection: true },
  },
  bars: {
    return_at_16000: {
      what: 'joint: training return (episodes that ended in the last 1,000 steps) at 16,000 steps, median over seeds',
      atLeast: 450,
    },
    lowest_after_16000: {
      what: 'joint: lowest training return from 16,000 steps to the end, median over seeds: it does not unlearn',
      atLeast: 450,
    },
    minutes_to_16000: { what: 'joint: minutes of a seed to 16,000 steps, median', atMost: 5 },
  },
  async run(context) {
    const envSteps = context.isQuick ? 256 : Number(context.options['steps']);
    const game = cartPole();
    const others = context.seeds.slice(0, Number(context.options['other-seeds']));
    const results: Record<string, Trained[]> = {};
    for (const schedule of SCHEDULES) {
      const trained = await context.seedLoop(schedule, (seed, place) => {
        if (schedule !== 'joint' && !others.includes(seed)) return null;
        const agents = game.agents.map((id) =>
          dreamerAgent({
            ...{ game, id, schedule, size: 'nano' },
            ...{ batchSize: 8, sequenceLength: 16, trainRatio: 64 }, // one update in two steps
            // As in the reference runs, but for the step size: a constant one lets policies wander between 280 and 500.
            // With stored states, which grow old fast at this rate, one seed went back from 500 to 50-470.
            ...{ learningRate: { from: 1e-3, to: 1e-4, by: 0.5 }, warmUp: 100, replayLatents: false },
          }),
        );
        const setting = { game, agents, envs: 1, steps: 16, envSteps, window: 1000, metrics: LOSSES };
        return trainDreamer(setting, seed, place);
      });
      results[schedule] = trained.filter((one) => one !== null);
    }
    await show(context, results, envSteps);
    const { joint } = results;
    return {
      figures: { envSteps, results },
      bars: {
        return_at_16000: median(joint.map(({ returns }) => valueAt(returns, JUDGED))),
        lowest_after_16000: median(joint.map((trained) => lowestFrom(trained, envSteps / 2))),
        minutes_to_16000: median(joint.map((trained) => secondsTo(trained, JUDGED) / 60)),
      },
    };
  },
};

function lowestFrom({ returns: { steps, values } }: Trained, from: number): number {
  return Math.min(...values.filter((_, i) => steps[i] >= from));
}

function secondsTo({ returns: { steps }, seconds }: Trained, step: number): number {
  return seconds[Math.max(0, steps.filter((at) => at <= step).length - 1)];
}

/** The mean of a loss over the last quarter. */
function lateLoss({ curves }: Trained, loss: string, from: number): number {
  const { steps, values } = curves[loss];
  return mean(values.filter((_, i) => steps[i] >= from));
}

/** Does it matter how world model and actor-critic take turns? By seeds that all schedules were trained with. */
function compareSchedules(context: Context, results: Readonly<Record<string, Trained[]>>, envSteps: number): void {
  const count = Math.min(...Object.values(results).map(({ length }) => length));
  context.table(
    `CartPole-v1: the schedules, seeds 1 to ${count}`,
    Object.entries(results).map(([schedule, seeds]) => {
      const of = (read: (trained: Trained) => number) => bootstrap(seeds.slice(0, count).map(read));
      return {
        schedule,
        [`return at ${JUDGED}`]: of(({ returns }) => valueAt(returns, Math.min(JUDGED, envSteps))),
        'lowest of the second half': of((trained) => lowestFrom(trained, envSteps / 2)),
        'after training': of(({ evaluated }) => evaluated),
        seconds: of(({ seconds }) => seconds.at(-1) ?? 0),
        ...Object.fromEntries(LOSSES.map((loss) => [loss, of((one) => lateLoss(one, loss, (3 * envSteps) / 4))])),
      };
    }),
  );
}

async function show(context: Context, results: Readonly<Record<string, Trained[]>>, envSteps: number): Promise<void> {
  compareSchedules(context, results, envSteps);
  const at = [4000, 8000, 12_000, 16_000, 24_000, 32_000].filter((step) => step <= envSteps);
  context.table(
    'CartPole-v1: training return, episodes that ended in the last 1,000 steps',
    Object.entries(results).flatMap(([schedule, seeds]) =>
      seeds.map((trained, i) => ({
        schedule,
        seed: context.seeds[i],
        ...Object.fromEntries(at.map((step) => [`${step / 1000}k`, valueAt(trained.returns, step)])),
        'lowest of the second half': lowestFrom(trained, envSteps / 2),
        'after training': trained.evaluated,
        seconds: trained.seconds.at(-1) ?? 0,
      })),
    ),
  );
  const bySchedule = (read: (trained: Trained) => Trained['returns']) =>
    Object.fromEntries(Object.entries(results).map(([schedule, seeds]) => [schedule, seeds.map(read)]));
  const draw = async (suffix: string, title: string, y: string, read: (trained: Trained) => Trained['returns']) => {
    if (Object.values(results).some((seeds) => seeds.some((trained) => read(trained).steps.length < 2))) return;
    await context.figure(suffix, await learningCurves(bySchedule(read), { title, y }));
  };
  await draw('returns', 'CartPole-v1: training return', 'mean return', ({ returns }) => returns);
  for (const loss of LOSSES) {
    await draw(loss.replaceAll('/', '-'), `CartPole-v1: ${loss}`, 'nats', ({ curves }) => curves[loss]);
  }
  await draw('seconds', 'CartPole-v1: seconds of training', 'seconds', ({ returns, seconds }) => ({
    steps: returns.steps,
    values: seconds,
  }));
}
