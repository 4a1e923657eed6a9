import { type Agent, evaluate, type Game, type LogEntry } from '@coplay/core';
import { curveOf } from '@coplay/diagnostics';
import { type Curve, mean } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import {
  anneal,
  type Curriculum,
  curriculum,
  type HopSearchOptions,
  hopAgent,
  planner,
  ppoAgent,
  ppoPresets,
  selfPlay,
  sharedPpoAgents,
} from '@coplay/trainers';
import { type Context, meanOfEpisodes, type SeedPlace, shortCurve } from '../../bench/harness';

/** Agents of one kind in one game. */
export interface Line {
  readonly label: string;
  /** The part of the study that it belongs to. */
  readonly part: string;
  readonly game: Game;
  readonly envSteps: number;
  readonly seeds: readonly number[];
  /** In training, among which an agent's simulations are shared. Default 1 */
  readonly trees?: number;
  /**
   * The share of training until which a lone hunter may catch the stag, as if a partner had joined: always at first,
   * never in the end. Default: the game's own rules from the start
   */
  readonly partnersUntil?: number;
  /** Options of the search, in training and afterwards, in place of the usual ones. */
  readonly search?: Pick<HopSearchOptions, 'exploration' | 'rationality'>;
  /** Options of the search and of learning. Default: HOP's own */
  readonly gamma?: number;
  /** Agents of PPO in place of HOP: each with weights of its own, or all with the same. */
  readonly ppo?: 'own' | 'shared';
}

/** The results of one seed. */
export interface SeedResult {
  /** Mean return over the last 20 % of training. */
  readonly late: number;
  /** Of evaluations after training: with the larger search (PPO has none), and with that of training. */
  readonly evaluated: number;
  readonly asTrained: number;
  /** Smoothed mean return. */
  readonly curve: Curve;
  readonly seconds: number;
}

/** Simulations of an environment step in training, over its agents and their trees. */
const SIMULATIONS = 80;

/**
 * The search in training. With so few simulations actions must be tried before values decide: hence the large
 * exploration. The rationality is such that a step towards a stag, 5 % of 5, counts for e^4 : 1, and one towards a
 * hare, 5 % of 1, for 2 : 1: agents go on looking for something better.
 */
const SEARCH: HopSearchOptions = { exploration: 20, rationality: 15 };

/** The search afterwards. */
const LARGER: HopSearchOptions = { trees: 5, simulations: 40, exploration: 10, rationality: 15 };

/** PPO's settings on 8x8: those of the study stag-hunt-8x8. */
const PPO_LARGE = {
  ppo: { ...ppoPresets.stagHunt, gamma: 0.97, minibatchSize: 512, entropyWeight: { from: 0.1, to: 0, by: 0.6 } },
  inputs: { centred: true },
};

/** Trains agents that plan, for one seed. */
export async function train(context: Context, line: Line, seed: number, place: SeedPlace): Promise<SeedResult> {
  const { game, trees = 1, gamma } = line;
  const simulations = Math.round(SIMULATIONS / game.agents.length / trees);
  const search = { ...SEARCH, ...line.search, trees, simulations };
  const hop = { minibatches: 32, learningRate: 1e-3, ...(gamma !== undefined && { gamma }) };
  const lessons = lessonsOf(line);
  const agents = game.agents.map((id) => hopAgent({ game: lessons?.game ?? game, id, search, hop }));
  return trainAll(context, line, agents, seed, place, lessons, async () => {
    const larger = context.isQuick ? { trees: 2, simulations: 8 } : { ...LARGER, ...line.search };
    const players = agents.map((agent) => planner(agent, larger));
    return (await evaluate(game, players, { episodes: context.isQuick ? 8 : 400, seed })).mean;
  });
}

/** Trains agents of PPO for as many steps. */
export function trainPpo(context: Context, line: Line, seed: number, place: SeedPlace): Promise<SeedResult> {
  const { game, ppo } = line;
  const common = { game, ...(isLarge(line) ? PPO_LARGE : { ppo: ppoPresets.stagHunt }) };
  const agents = ppo === 'shared' ? sharedPpoAgents(common) : game.agents.map((id) => ppoAgent({ ...common, id }));
  return trainAll(context, line, agents, seed, place, lessonsOf(line));
}

function isLarge({ game }: Line): boolean {
  return Number(game.options['size']) > 4;
}

/** The rules that change during training, where they do. */
function lessonsOf({ game, partnersUntil }: Line): Curriculum | undefined {
  if (partnersUntil === undefined) return undefined;
  const chance = { from: 1, to: 0, by: partnersUntil };
  return curriculum((progress) => stagHunt({ ...game.options, partnerChance: anneal(chance, progress) }));
}

async function trainAll(
  context: Context,
  line: Line,
  agents: readonly Agent[],
  seed: number,
  place: SeedPlace,
  lessons?: Curriculum,
  larger?: () => Promise<number>,
): Promise<SeedResult> {
  const { game, envSteps } = line;
  const entries: LogEntry[] = [];
  const keep = { start: () => {}, close: () => {}, write: (entry: LogEntry) => void entries.push(entry) };
  const ofPpo = { envs: isLarge(line) ? 64 : 32, steps: 32 };
  const layout = line.ppo ? ofPpo : { envs: context.isQuick ? 4 : 128, steps: 8 };
  const log = [keep, ...place.log];
  const run = selfPlay({ game, agents, ...layout, seed, ...(lessons && { curriculum: lessons }), log });
  const start = performance.now();
  await run.train({ envSteps });
  const seconds = (performance.now() - start) / 1000;
  lessons?.setProgress(1); // searches afterwards know the game's own rules, as the last ones in training
  const asTrained = (await run.evaluate({ episodes: context.isQuick ? 8 : 500 })).mean;
  const evaluated = larger ? await larger() : asTrained;
  run.dispose();
  const late = entries.filter((entry) => entry.envSteps > 0.8 * envSteps);
  const curve = shortCurve(curveOf(entries, 'episode/return_mean'));
  return { late: meanOfEpisodes(late, 'episode/return_mean'), evaluated, asTrained, curve, seconds };
}

/** The best mean return there is: see the page of the game. */
export function bestReturn({ game }: Line): number {
  const [agents, stags, hares] = [game.agents.length, Number(game.options['stags']), Number(game.options['hares'])];
  const pairs = Math.min(stags, Math.floor(agents / 2));
  return (10 * pairs + Math.min(hares, agents - 2 * pairs)) / agents;
}

/** How much of its best level a curve keeps: the mean of its last 20 % over the best mean of any 20 %. */
export function stability({ values }: Curve): number {
  const length = Math.max(1, Math.round(values.length / 5));
  const means = values.slice(length - 1).map((_, i) => mean(values.slice(i, i + length)));
  return means[means.length - 1] / Math.max(...means);
}
