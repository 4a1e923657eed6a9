import type { Agent, Game } from '@coplay/core';
import { learningCurves } from '@coplay/diagnostics';
import type { Curve } from '@coplay/diagnostics/statistics';
import { cartPole, catchGame } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { type PpoOptions, ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';
import { type Context, type Experiment, learningColumns, recentEpisodes, type SeedPlace } from '../bench/harness';

/** A game for one agent, how it's learned, and when it counts as learned. */
interface Task {
  readonly label: string;
  readonly game: Game;
  readonly ppo: PpoOptions;
  readonly envSteps: number;
  readonly goal: number;
}

/** The results of one seed. */
interface SeedResult {
  /** Environment steps until the mean of the last 20 training episodes reached the goal; -1 if it never did. */
  readonly stepsToGoal: number;
  /** Mean of the last 20 training episodes at the end. */
  readonly last20: number;
  /** The best such mean at any time. */
  readonly best20: number;
  /** Mean return of 200 episodes after training. */
  readonly evaluated: number;
  readonly curve: Curve;
  readonly seconds: number;
}

/** Is PPO right on the games that everyone knows? */
export const study: Experiment = {
  name: 'ppo-cartpole',
  description: 'PPO on CartPole-v1 and bsuite Catch: steps until they are solved',
  minutes: 30,
  seeds: 10,
  options: { steps: { what: 'environment steps of each seed', default: '100000' } },
  bars: {
    cart_pole_last_20: {
      what: 'CartPole-v1: mean of the last 20 training episodes, best within 100,000 steps, worst seed',
      atLeast: 475,
    },
    catch_return: { what: 'Catch: mean return of 200 episodes after training, worst seed', atLeast: 0.95 },
  },
  async run(context) {
    const envSteps = context.isQuick ? 2048 : Number(context.options['steps']);
    const tasks: Task[] = [
      { label: 'CartPole-v1', game: cartPole(), ppo: ppoPresets.cartPole, envSteps, goal: 475 },
      {
        label: 'Catch',
        game: catchGame(),
        ppo: { ...ppoPresets.cartPole, epochs: 4, entropyWeight: 0.01 },
        envSteps,
        goal: 0.95,
      },
    ];
    const results: Record<string, SeedResult[]> = {};
    for (const task of tasks) {
      results[task.label] = await context.seedLoop(task.label, (seed, place) => train(task, seed, place));
      await show(context, task, results[task.label]);
    }
    return {
      figures: results,
      bars: {
        cart_pole_last_20: Math.min(...results['CartPole-v1'].map((seed) => seed.best20)),
        catch_return: Math.min(...results['Catch'].map((seed) => seed.evaluated)),
      },
    };
  },
};

async function train({ game, ppo, envSteps, goal }: Task, seed: number, place: SeedPlace): Promise<SeedResult> {
  const agents: Agent<Float32Array>[] = game.agents.map((id) =>
    ppoAgent({ game, id, ppo, network: mlp({ hidden: [64, 64] }) }),
  );
  const recent = recentEpisodes(20);
  const curve = { steps: [] as number[], values: [] as number[] };
  let stepsToGoal = -1;
  let best20 = -Infinity;
  const run = selfPlay({
    game,
    agents,
    envs: 8,
    steps: 32,
    seed,
    log: place.log,
    onRollout: (experience, progress) => {
      recent.add(experience);
      if (!recent.isFull()) return;
      best20 = Math.max(best20, recent.mean());
      if (stepsToGoal < 0 && recent.mean() >= goal) stepsToGoal = progress.envSteps;
      curve.steps.push(progress.envSteps);
      curve.values.push(recent.mean());
    },
  });
  const start = performance.now();
  await run.train({ envSteps });
  const seconds = (performance.now() - start) / 1000;
  const evaluated = (await run.evaluate({ episodes: 200 })).mean;
  run.dispose();
  return { stepsToGoal, last20: recent.mean(), best20, evaluated, curve, seconds };
}

async function show(context: Context, task: Task, results: readonly SeedResult[]): Promise<void> {
  context.table(
    `${task.label}, ${task.envSteps} environment steps`,
    results.map((result, i) => ({
      seed: context.seeds[i],
      [`steps to ${task.goal}`]: result.stepsToGoal < 0 ? 'never' : result.stepsToGoal,
      'last 20 episodes': result.last20,
      'best 20 episodes': result.best20,
      'after training': result.evaluated,
      seconds: result.seconds,
    })),
  );
  const columns = learningColumns(
    results.map(({ evaluated }) => evaluated),
    task.goal,
  );
  context.table(`${task.label}: return after training`, [columns]);
  const curves = results.map((result) => result.curve).filter((curve) => curve.steps.length > 1);
  if (curves.length === 0) return;
  const figure = await learningCurves(
    { PPO: curves },
    { title: `${task.label}: last 20 training episodes`, y: 'mean return', references: { goal: task.goal } },
  );
  await context.figure(task.label.toLowerCase(), figure);
}
