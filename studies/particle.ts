import { fileURLToPath } from 'node:url';
import { evaluate, type Game, type LogEntry } from '@coplay/core';
import { curveOf, learningCurves } from '@coplay/diagnostics';
import { bootstrap, type Curve, mean, smooth } from '@coplay/diagnostics/statistics';
import { randomAgent, simpleSpread, simpleTag } from '@coplay/envs';
import { mlp, observationsWorldModel } from '@coplay/models';
import { type HopPlusModules, type PpoOptions, selfPlay, sharedHopPlusAgents, sharedPpoAgents } from '@coplay/trainers';
import {
  type Context,
  type Experiment,
  findPython,
  learningColumns,
  runPython,
  type SeedPlace,
} from '../bench/harness';

/** A game, and who learns in it; the other agents move at random. */
interface Subject {
  readonly game: Game;
  readonly learners: number;
}

const SUBJECTS: Readonly<Record<string, Subject>> = {
  simple_spread: { game: simpleSpread({ agents: 3 }) as Game, learners: 3 },
  simple_tag: { game: simpleTag({ adversaries: 3, good: 1 }) as Game, learners: 3 },
};

/** Environments and steps of each rollout, the peer's too. */
const ROLLOUT = { envs: 32, steps: 100 };

/** All settings were chosen on seed 101, which is not judged. bench/peers/sb3_particle_peer.py has the same. */
const PPO: PpoOptions = {
  gamma: 0.95,
  lambda: 0.95,
  learningRate: { from: 1e-3, to: 0 },
  entropyWeight: 0.01,
  valueClip: false,
  epochs: 10,
  minibatchSize: 160, // of each learner: 480 rows
};

const HOP_PLUS: HopPlusModules = {
  imagined: { ratio: 2, horizon: 8, startUpdates: 1, minAccuracy: 0.1 },
  moa: { network: mlp({ hidden: [64] }) },
  omg: false,
  worldModel: {
    model: observationsWorldModel({ network: mlp({ hidden: [128, 128] }) }),
    stepsPerUpdate: 32,
    learningRate: 2e-3,
  },
};

const ARMS = ['PPO', 'MAPPO', 'HOP+'] as const;
const PEER = 'stable-baselines3';

/** The results of one seed. */
interface SeedResult {
  /** Mean return of a learner over 500 episodes after training, actions drawn. */
  readonly evaluated: number;
  /** The same for agents that act at random; the peer has none. */
  readonly atRandom?: number;
  readonly curve?: Curve;
  readonly seconds: number;
}

/** Do our learners reach the returns of a public implementation in the multi-particle environments? */
export const study: Experiment = {
  name: 'particle',
  description: 'PPO, MAPPO and HOP+ on simple_spread and simple_tag, compared with PPO of stable-baselines3 on mpe2',
  minutes: 70,
  seeds: 10,
  options: {
    steps: { what: 'environment steps of each run', default: '48000' },
    games: { what: 'which games', default: 'simple_spread,simple_tag', isSelection: true },
  },
  bars: Object.fromEntries(
    Object.keys(SUBJECTS).flatMap((game) =>
      ARMS.map((arm) => [
        barName(game, arm),
        { what: `${game}: return of ${arm} less the lower end of the interval of ${PEER}`, atLeast: 0 },
      ]),
    ),
  ),
  async run(context) {
    const names = context.options['games'].split(',').filter((name) => SUBJECTS[name]);
    const results: Record<string, Record<string, readonly SeedResult[]>> = {};
    for (const name of names) {
      results[name] = {};
      for (const arm of ARMS) {
        results[name][arm] = await context.seedLoop(`${name}, ${arm}`, (seed, place) => {
          return train(context, SUBJECTS[name], arm, seed, place);
        });
      }
      if (context.withPython) {
        results[name][PEER] = await context.seedLoop(`${name}, ${PEER}`, (seed) => trainPeer(context, name, seed));
      }
    }
    return report(context, results);
  },
};

function barName(game: string, arm: string): string {
  return `${game}_${arm}`.toLowerCase().replaceAll('+', '_plus');
}

async function train(
  context: Context,
  { game, learners }: Subject,
  arm: (typeof ARMS)[number],
  seed: number,
  place: SeedPlace,
): Promise<SeedResult> {
  const ids = game.agents.slice(0, learners);
  const options = { game, ids, ppo: PPO, network: mlp({ hidden: [64, 64] }) };
  const learning = {
    PPO: () => sharedPpoAgents(options),
    MAPPO: () => sharedPpoAgents({ ...options, critic: 'joint' }),
    'HOP+': () => sharedHopPlusAgents({ ...options, ...HOP_PLUS }),
  }[arm]();
  const others = game.agents.slice(learners).map((id) => randomAgent({ game, id }));
  const entries: LogEntry[] = [];
  const keep = { start: () => {}, close: () => {}, write: (entry: LogEntry) => void entries.push(entry) };
  const rollout = context.isQuick ? { envs: 8, steps: 50 } : ROLLOUT;
  const run = selfPlay({ game, agents: [...learning, ...others], ...rollout, seed, log: [keep, ...place.log] });
  const start = performance.now();
  await run.train({ envSteps: context.isQuick ? 800 : Number(context.options['steps']) });
  const seconds = (performance.now() - start) / 1000;
  const episodes = { seed, episodes: context.isQuick ? 8 : 500 };
  const trained = await evaluate(game, [...learning, ...others], episodes);
  run.dispose();
  const random = await evaluate(
    game,
    game.agents.map((id) => randomAgent({ game, id })),
    episodes,
  );
  const ofLearners = ({ byAgent }: typeof trained) => mean(ids.map((id) => byAgent[id].return));
  const curve = smooth(curveOf(entries, `episode/return/${ids[0]}`), 3);
  return { evaluated: ofLearners(trained), atRandom: ofLearners(random), curve, seconds };
}

async function trainPeer({ options, isQuick }: Context, game: string, seed: number): Promise<SeedResult> {
  const python = findPython(['stable_baselines3', 'mpe2']);
  if ('missing' in python)
    throw new Error(`${python.missing}: pip install stable-baselines3 mpe2, or leave --peer out`);
  const path = fileURLToPath(new URL('../bench/peers/sb3_particle_peer.py', import.meta.url));
  const steps = isQuick ? '3200' : options['steps'];
  const output = await runPython(python.command, [path, game, String(seed), steps, isQuick ? '8' : '500']);
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as SeedResult;
}

async function report(context: Context, results: Record<string, Record<string, readonly SeedResult[]>>) {
  const bars = Object.fromEntries(Object.keys(study.bars).map((name): [string, number | null] => [name, null]));
  for (const [game, arms] of Object.entries(results)) {
    const returns = Object.fromEntries(
      Object.entries(arms).map(([arm, seeds]) => [arm, seeds.map(({ evaluated }) => evaluated)]),
    );
    const random = mean(arms[ARMS[0]].map(({ atRandom }) => atRandom!));
    context.table(
      `${game}: mean return of a learner after training; at random ${random.toFixed(2)}`,
      Object.entries(arms).map(([arm, seeds]) => ({
        agents: arm,
        ...learningColumns(returns[arm]),
        'seconds a seed': mean(seeds.map(({ seconds }) => seconds)),
      })),
    );
    const curves = Object.fromEntries(ARMS.map((arm) => [arm, arms[arm].flatMap(({ curve }) => curve ?? [])]));
    await context.figure(game.replace('_', '-'), await learningCurves(curves, { title: game, references: { random } }));
    if (!returns[PEER]) continue;
    for (const arm of ARMS) bars[barName(game, arm)] = mean(returns[arm]) - bootstrap(returns[PEER]).lower;
  }
  return { figures: { results }, bars };
}
