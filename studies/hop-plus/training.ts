import { type Agent, type AgentId, evaluate, type Game, type LogEntry } from '@coplay/core';
import { curveOf } from '@coplay/diagnostics';
import { bootstrap, type Curve, mean } from '@coplay/diagnostics/statistics';
import { mixed, nearestHare, nearestStag, stagHunt } from '@coplay/envs';
import { type HopPlusModules, hopPlusAgent, ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';
import {
  type Context,
  meanOfEpisodes,
  medianReached,
  reachedOrNever,
  type SeedPlace,
  shortCurve,
  stepsToReach,
} from '../../bench/harness';
import { arenas } from '../boards/arenas';

/** Agents of one kind on one board. */
export interface Line {
  readonly size: number;
  /** Default 1 */
  readonly stags?: number;
  /** Modules of HOP+, or `ppo`: the baseline, the library's own `ppoAgent` with its preset */
  readonly agents: HopPlusModules | 'ppo';
  /** Whether policies see the board with themselves in the middle. Default false */
  readonly centred?: boolean;
  /** Sizes of the open squares that are trained on; see `arenas`. Default: the whole board */
  readonly squares?: readonly number[];
  readonly envSteps: number;
  readonly envs: number;
  readonly seeds: readonly number[];
}

/** The results of one seed. */
export interface SeedResult {
  /** Mean return of each agent over the last 20 % of training. */
  readonly late: Readonly<Record<AgentId, number>>;
  /** Of one evaluation after training. */
  readonly evaluated: number;
  /** Smoothed mean return. */
  readonly curve: Curve;
  readonly seconds: number;
  /** Seconds of training at each update; missing in results from before it was kept. */
  readonly clock?: Curve;
}

const gameOf = (size: number, stags = 1) => stagHunt({ size, agents: 4, stags, hares: 4 });

/** Trains four agents of one kind together, for each of the line's seeds. */
export async function trainTogether(context: Context, label: string, line: Line): Promise<SeedResult[]> {
  const results = await context.seedLoop(label, (seed, place) => {
    return line.seeds.includes(seed) ? train(context, line, seed, place) : null;
  });
  return results.filter((result): result is SeedResult => Boolean(result));
}

async function train(context: Context, line: Line, seed: number, place: SeedPlace): Promise<SeedResult> {
  const whole = gameOf(line.size, line.stags);
  const game = line.squares ? arenas(line.size, line.squares) : whole;
  const inputs = { centred: line.centred ?? false };
  const agents = game.agents.map((id) => {
    const options = { game, id, ppo: ppoPresets.stagHunt, inputs };
    return (line.agents === 'ppo' ? ppoAgent(options) : hopPlusAgent({ ...options, ...line.agents })) as Agent;
  });
  const entries: LogEntry[] = [];
  const keep = { start: () => {}, close: () => {}, write: (entry: LogEntry) => void entries.push(entry) };
  const run = selfPlay({ game, agents, envs: line.envs, steps: 32, seed, log: [keep, ...place.log] });
  const start = performance.now();
  await run.train({ envSteps: line.envSteps });
  const seconds = (performance.now() - start) / 1000;
  const evaluated = (await evaluate(whole, agents, { seed, episodes: context.isQuick ? 64 : 2000 })).mean;
  run.dispose();
  const late = entries.filter((entry) => entry.envSteps > 0.8 * line.envSteps);
  return {
    late: Object.fromEntries(game.agents.map((id) => [id, meanOfEpisodes(late, `episode/return/${id}`)])),
    evaluated,
    curve: shortCurve(curveOf(entries, 'episode/return_mean')),
    seconds,
    clock: clockOf(entries),
  };
}

function clockOf(entries: readonly LogEntry[]): Curve {
  let seconds = 0;
  const values = entries.map(({ metrics }) => {
    seconds += metrics['time/collect_seconds'] + metrics['time/learn_seconds'];
    return seconds;
  });
  return { steps: entries.map(({ envSteps }) => envSteps), values };
}

/** A row of a table: how many seeds of a line reach a level, and after how many steps and seconds. */
export function reachRow(label: string, seeds: readonly SeedResult[], level: number) {
  const steps = seeds.map(({ curve }) => stepsToReach(curve, level));
  const seconds = seeds.map((seed, i) => secondsAt(seed, steps[i]));
  return {
    setting: label,
    seeds: seeds.length,
    'return after training': bootstrap(seeds.map(({ evaluated }) => evaluated)),
    level,
    'seeds at the level': steps.filter(Number.isFinite).length,
    'steps to it (median)': reachedOrNever(medianReached(steps)),
    'seconds to it (median)': reachedOrNever(medianReached(seconds)),
  };
}

/** Seconds that a run had taken at a step. */
function secondsAt({ clock }: SeedResult, step: number): number {
  if (!clock || !Number.isFinite(step)) return Number.POSITIVE_INFINITY;
  return clock.values[clock.steps.findIndex((at) => at >= step)];
}

const KINDS: Readonly<Record<string, (game: Game, id: AgentId) => Agent>> = {
  'Mixed(0.5)': (game, id) => mixed({ game, id, p: 0.5 }) as Agent,
  NearestStag: (game, id) => nearestStag({ game, id }) as Agent,
  NearestHare: (game, id) => nearestHare({ game, id }) as Agent,
};

/** One learner among three co-players that follow a rule: how well it does, and how well it models them. */
export async function trainAlone(context: Context, envSteps: number) {
  const game = gameOf(4);
  const [first, ...others] = game.agents;
  const rows = [];
  for (const [kind, make] of Object.entries(KINDS).slice(0, context.isQuick ? 1 : undefined)) {
    const results = await context.seedLoop(`alone among ${kind}`, async (seed, place) => {
      if (seed > 2) return null;
      const learner = hopPlusAgent({ game, id: first, ppo: ppoPresets.stagHunt });
      const agents = [learner, ...others.map((id) => make(game, id))];
      const run = selfPlay({ game, agents, envs: 32, steps: 32, seed, log: [...place.log] });
      await run.train({ envSteps: Math.min(envSteps, 60_000) });
      const { returnMean } = await run.evaluate({ episodes: context.isQuick ? 64 : 2000 });
      const { moa } = learner.learner.coPlayerModelsOf(0);
      const accuracy = moa ? mean(others.map((id) => moa.accuracy(id))) : 0;
      run.dispose();
      return { own: returnMean[first], others: mean(others.map((id) => returnMean[id])), accuracy };
    });
    const kept = results.flatMap((result) => result ?? []);
    rows.push({
      'co-players': kind,
      seeds: kept.length,
      'its return': mean(kept.map(({ own }) => own)),
      'their return': mean(kept.map((result) => result.others)),
      'MOA top-1, goal known': mean(kept.map(({ accuracy }) => accuracy)),
    });
  }
  return rows;
}
