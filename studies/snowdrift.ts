import { evaluate, type Game, type LogEntry } from '@coplay/core';
import { curveOf, learningCurves } from '@coplay/diagnostics';
import { bootstrap, type Curve, type Estimate, mean, smooth } from '@coplay/diagnostics/statistics';
import { randomAgent, snowdrift } from '@coplay/envs';
import { mlp } from '@coplay/models';
import {
  hopAgent,
  type LearningAgent,
  type PpoNetworkOptions,
  planner,
  selfPlay,
  sharedHopPlusAgents,
  sharedPpoAgents,
} from '@coplay/trainers';
import type { Context, Experiment, SeedPlace } from '../bench/harness';

/** The best mean return: each of six drifts pays 6 to everyone, and costs its shovellers 4 together, 1 on average. */
const BEST = 30;

/** As in the study `any-game`, where these numbers were chosen on a seed that isn't judged. */
const PPO = { learningRate: { from: 1e-3, to: 0 }, entropyWeight: 0.02, valueClip: false } as const;
const INPUTS = { previousActions: true } as const;

/** A way of learning: the agents, and how they play afterwards. */
interface Arm {
  readonly label: string;
  readonly envs: number;
  readonly steps: number;
  make(game: Game): readonly LearningAgent[];
  play?(agent: LearningAgent): LearningAgent | ReturnType<typeof planner>;
}

const ppo = (label: string, reward: PpoNetworkOptions['reward'] & {}): Arm => ({
  ...{ label, envs: 32, steps: 32 },
  make: (game) => sharedPpoAgents({ game, ppo: PPO, inputs: INPUTS, reward }),
});

const ARMS = {
  ppo: ppo('PPO', 'own'),
  shared: ppo('PPO, shared rewards', 'prosocial'),
  hop: {
    ...{ label: 'HOP', envs: 64, steps: 16 },
    make: (game) => {
      const search = { trees: 1, simulations: 20, exploration: 20, rationality: 5 };
      return game.agents.map((id) => hopAgent({ game, id, search, hop: { minibatches: 32, learningRate: 1e-3 } }));
    },
    play: (agent) => planner(agent as ReturnType<typeof hopAgent>, { trees: 3, simulations: 20 }),
  },
  plus: {
    ...{ label: 'HOP+ with the rules, shared rewards', envs: 32, steps: 32 },
    make: (game) => {
      const imagined = { ratio: 4, horizon: 8, startUpdates: 1, minAccuracy: 0.5 };
      const modules = { worldModel: 'rules', imagined, moa: { network: mlp({ hidden: [64] }) }, omg: false } as const;
      return sharedHopPlusAgents({ game, ppo: PPO, inputs: INPUTS, reward: 'prosocial', ...modules });
    },
  },
} as const satisfies Readonly<Record<string, Arm>>;

type ArmName = keyof typeof ARMS;

/** The results of one seed. */
interface SeedResult {
  /** Mean return of an agent, as a share of the best there is. */
  readonly share: number;
  readonly curve: Curve;
}

/** Do agents that model others clear the snow? */
export const study: Experiment = {
  name: 'snowdrift',
  description: 'HOP, HOP+ and PPO in the snowdrift game: the share of the best return',
  minutes: 150,
  seeds: 10,
  options: {
    size: { what: 'rows and columns of the board', default: '6' },
    steps: { what: 'environment steps of each run', default: '20480' },
    arms: { what: 'which agents', default: Object.keys(ARMS).join(','), isSelection: true },
  },
  bars: {
    share: { what: 'mean return of HOP or HOP+, the better one, as a share of 30, the best there is', atLeast: 0.9 },
  },
  async run(context) {
    const game = snowdrift({ size: Number(context.options['size']) });
    const results: Partial<Record<ArmName, SeedResult[]>> = {};
    for (const name of context.options['arms'].split(',') as ArmName[]) {
      const arm: Arm = ARMS[name];
      results[name] = await context.seedLoop(arm.label, (seed, place) => train(context, game, arm, seed, place));
    }
    const agents = game.agents.map((id) => randomAgent({ game, id }));
    const chance = (await evaluate(game, agents, { episodes: context.isQuick ? 8 : 1000 })).mean / BEST;
    return report(context, results, chance);
  },
};

async function train(context: Context, game: Game, arm: Arm, seed: number, place: SeedPlace): Promise<SeedResult> {
  const agents = arm.make(game);
  const entries: LogEntry[] = [];
  const keep = { start: () => {}, close: () => {}, write: (entry: LogEntry) => void entries.push(entry) };
  const run = selfPlay({
    ...{ game, agents, seed, log: [keep, ...place.log] },
    ...(context.isQuick ? { envs: 8, steps: 8 } : { envs: arm.envs, steps: arm.steps }),
  });
  await run.train({ envSteps: context.isQuick ? 512 : Number(context.options['steps']) });
  const players = agents.map((agent) => arm.play?.(agent) ?? agent);
  const { mean: level } = await evaluate(game, players, { seed, episodes: context.isQuick ? 4 : 200 });
  run.dispose();
  return { share: level / BEST, curve: smooth(curveOf(entries, 'episode/return_mean'), 3) };
}

async function report(context: Context, results: Partial<Record<ArmName, SeedResult[]>>, chance: number) {
  const found = Object.entries(results) as [ArmName, SeedResult[]][];
  context.table('Mean return of an agent as a share of the best, 30', [
    ...found.map(([name, seeds]) => rowOf(ARMS[name].label, seeds)),
    { agents: 'Random', share: chance },
  ]);
  const curves = found.map(([name, seeds]) => [ARMS[name].label, seeds.map(({ curve }) => curve)] as const);
  const labels = { title: 'Snowdrift', x: 'environment steps', y: 'mean return of an agent in training' };
  await context.figure('curves', await learningCurves(Object.fromEntries(curves), labels));
  const modelling = (['hop', 'plus'] as const).flatMap((name) => (results[name] ? [sharesOf(results[name])] : []));
  const better = modelling.sort((one, other) => mean(other) - mean(one))[0];
  const share: Estimate | null = better ? bootstrap(better) : null;
  return { figures: { chance, results }, bars: { share } };
}

const sharesOf = (seeds: readonly SeedResult[]) => seeds.map(({ share }) => share);

function rowOf(agents: string, seeds: readonly SeedResult[]) {
  const shares = sharesOf(seeds);
  return { agents, seeds: seeds.length, share: bootstrap(shares), least: Math.min(...shares) };
}
