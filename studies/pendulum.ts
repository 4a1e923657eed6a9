import { evaluate } from '@coplay/core';
import { learningCurves } from '@coplay/diagnostics';
import type { Curve } from '@coplay/diagnostics/statistics';
import { pendulum } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { frozen, type PpoOptions, ppoAgent, selfPlay } from '@coplay/trainers';
import { type Context, type Experiment, learningColumns, recentEpisodes, type SeedPlace } from '../bench/harness';

const GOAL = -200;

/** As RL Zoo's settings for Pendulum-v1 (discount, step size, epochs), with a step size that falls to 0. */
const ppo: PpoOptions = {
  gamma: 0.9,
  lambda: 0.95,
  learningRate: { from: 1e-3, to: 0 },
  entropyWeight: 0,
  valueClip: false,
  epochs: 10,
  minibatchSize: 64,
};

/** The two ways in which PPO's Gaussian keeps to the bounds of a box. */
const policies = { clipped: { squash: false }, squashed: { squash: true } } as const;

/** The results of one seed. */
interface SeedResult {
  /** Environment steps until the mean of the last 100 training episodes reached the goal; -1 if it never did. */
  readonly stepsToGoal: number;
  /** Mean return of 200 episodes after training, actions drawn. */
  readonly drawn: number;
  /** The same by the mean of the policy. */
  readonly greedy: number;
  readonly curve: Curve;
  readonly seconds: number;
}

/** Does PPO learn with continuous actions? */
export const study: Experiment = {
  name: 'pendulum',
  description: 'PPO with continuous actions on Pendulum-v1: return after 300,000 steps',
  minutes: 40,
  seeds: 10,
  options: { steps: { what: 'environment steps of each seed', default: '300000' } },
  bars: {
    ppo_return: {
      what: 'mean over seeds of the return of 200 episodes after training, clipped Gaussian',
      atLeast: GOAL,
    },
    ppo_squashed_return: { what: 'the same, squashed Gaussian', atLeast: GOAL },
  },
  async run(context) {
    const envSteps = context.isQuick ? 8192 : Number(context.options['steps']);
    const results: Record<string, readonly SeedResult[]> = {};
    for (const [label, continuous] of Object.entries(policies)) {
      results[label] = await context.seedLoop(label, (seed, place) => train(continuous, envSteps, seed, place));
      show(context, label, envSteps, results[label]);
    }
    await draw(context, results);
    const mean = (label: string) => average(results[label].map(({ drawn }) => drawn));
    return { figures: results, bars: { ppo_return: mean('clipped'), ppo_squashed_return: mean('squashed') } };
  },
};

async function train(
  continuous: { readonly squash: boolean },
  envSteps: number,
  seed: number,
  place: SeedPlace,
): Promise<SeedResult> {
  const game = pendulum();
  const agent = ppoAgent({ game, id: 'agent_0', ppo, continuous, network: mlp({ hidden: [64, 64] }) });
  const recent = recentEpisodes(100);
  const curve = { steps: [] as number[], values: [] as number[] };
  let stepsToGoal = -1;
  const run = selfPlay({
    game,
    agents: [agent],
    envs: 4,
    steps: 1024,
    seed,
    log: place.log,
    onRollout: (experience, progress) => {
      recent.add(experience);
      if (!recent.isFull()) return;
      if (stepsToGoal < 0 && recent.mean() >= GOAL) stepsToGoal = progress.envSteps;
      curve.steps.push(progress.envSteps);
      curve.values.push(recent.mean());
    },
  });
  const start = performance.now();
  await run.train({ envSteps });
  const seconds = (performance.now() - start) / 1000;
  const episodes = { episodes: 200, seed };
  const { mean: drawn } = await evaluate(game, [frozen(agent)], episodes);
  const { mean: greedy } = await evaluate(game, [frozen(agent, { greedy: true })], episodes);
  run.dispose();
  return { stepsToGoal, drawn, greedy, curve, seconds };
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function show(context: Context, label: string, envSteps: number, results: readonly SeedResult[]): void {
  context.table(
    `Pendulum-v1, ${label} Gaussian, ${envSteps} environment steps`,
    results.map(({ stepsToGoal, drawn, greedy, seconds }, i) => ({
      seed: context.seeds[i],
      [`steps to ${GOAL}`]: stepsToGoal < 0 ? 'never' : stepsToGoal,
      'after training': drawn,
      greedy,
      seconds,
    })),
  );
  const columns = learningColumns(
    results.map(({ drawn }) => drawn),
    GOAL,
  );
  context.table(`${label}: return after training`, [columns]);
}

async function draw(context: Context, results: Readonly<Record<string, readonly SeedResult[]>>): Promise<void> {
  const curves = Object.fromEntries(
    Object.entries(results)
      .map(
        ([label, seeds]) => [label, seeds.map(({ curve }) => curve).filter(({ steps }) => steps.length > 1)] as const,
      )
      .filter(([, seeds]) => seeds.length > 0),
  );
  if (Object.keys(curves).length === 0) return;
  const options = { title: 'Pendulum-v1: last 100 training episodes', y: 'mean return', references: { goal: GOAL } };
  await context.figure('pendulum', await learningCurves(curves, options));
}
