import { concatExperience, selectEnvs, splitEpisodes } from '@coplay/buffers';
import {
  type Agent,
  type AgentId,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  ndarray,
  splitSeed,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { nearestHare, nearestStag, randomAgent } from '@coplay/envs';

/**
 * How a nearest-stag player passes the time alone on the stag: it hunts, it stays, or either, drawn for each episode.
 */
export type Waiting = 'hunt' | 'stay' | 'both';

/** The players that data are made with, in the order of the extra `type`. */
export const PLAYERS = ['nearest-stag', 'nearest-stag-waiting', 'nearest-hare', 'random'] as const;

/** Shares of the rules in a mixture; a player is drawn for each seat and episode. They needn't sum to 1. */
export interface Mixture {
  readonly nearestStag: number;
  readonly nearestHare: number;
  readonly random: number;
}

/** What {@link ruleData} makes. */
export interface RuleDataOptions {
  readonly game: Game;
  readonly mixture: Mixture;
  readonly waits: Waiting;
  /** At least so many: whole episodes, the fewest that will do */
  readonly samples: number;
  /** What counts as a sample: a `step` of the game (a transition), or an `action` of one player who was on the map */
  readonly count: 'step' | 'action';
  readonly seed: number;
}

/**
 * Episodes [N, T, A] of rule-based players, one each from games that start at random, so that short ones aren't
 * favoured. The extra `type` [N, T, A] says which of {@link PLAYERS} each was.
 */
export async function ruleData(options: RuleDataOptions): Promise<Experience> {
  const { game, samples, count, seed } = options;
  const agents = game.agents.map((id) => mixture(game, id, options));
  const generator = createGenerator(streamSeed(seed, 'data/agents'));
  const envs = 256;
  const parts: Experience[] = [];
  let made = 0;
  for (let round = 0; made < samples; round++) {
    const env = vectorEnv(game, { envs, seed: splitSeed(streamSeed(seed, 'data/env'), round) });
    const rollout = createRollout(env, agents, generator);
    const streams = await rollout.collect(game.maxSteps);
    const episodes = firstEpisodes(streams);
    const needed = firstEnvs(episodes, samples - made, count);
    made += needed.samples;
    parts.push(needed.envs === envs ? episodes : selectEnvs(episodes, range(needed.envs)));
  }
  return concatExperience(parts);
}

/** The first episode of each environment. */
function firstEpisodes(streams: Experience): Experience {
  const all = splitEpisodes(streams);
  const perEnv = Array.from({ length: streams.envs }, (_, env) => {
    const ends = streams.ended.subarray(env * streams.steps, (env + 1) * streams.steps);
    return ends.reduce((sum, end) => sum + end, 0);
  });
  let start = 0;
  const firsts = perEnv.map((episodes) => {
    start += episodes;
    return start - episodes;
  });
  return selectEnvs(all, firsts);
}

/** How many of the first environments hold enough samples, and how many those are. */
function firstEnvs(episodes: Experience, enough: number, count: 'step' | 'action'): { envs: number; samples: number } {
  const { lengths, active, steps, agents } = episodes;
  const size = steps * agents.length;
  let samples = 0;
  for (let env = 0; env < episodes.envs; env++) {
    const actions = active.subarray(env * size, (env + 1) * size).reduce((sum, flag) => sum + flag, 0);
    samples += count === 'step' ? lengths[env] : actions;
    if (samples >= enough) return { envs: env + 1, samples };
  }
  return { envs: episodes.envs, samples };
}

/** A player that draws which rule it follows at the start of each episode; its state says which, [B]. */
function mixture(game: Game, id: AgentId, { mixture: shares, waits }: RuleDataOptions): Agent<Int32Array> {
  const players: Agent<null>[] = [
    nearestStag({ game, id }),
    nearestStag({ game, id, waits: 'stay' }),
    nearestHare({ game, id }),
    randomAgent({ game, id }),
  ];
  const waiting = { hunt: 0, stay: 1, both: 0.5 }[waits];
  const { nearestStag: stag, nearestHare: hare, random } = shares;
  const weights = [stag * (1 - waiting), stag * waiting, hare, random];
  return {
    id,
    name: 'Mixture',
    initialState: (rows) => new Int32Array(rows),
    async act(input, state, generator) {
      const types = state.map((type, row) => (input.isFirst[row] === 1 ? draw(weights, generator.uniform()) : type));
      const answers = await Promise.all(players.map((player) => player.act(input, null, generator)));
      const actions = types.map((type, row) => answers[type].actions[row]);
      return { actions, state: types, extras: { type: ndarray(types) } };
    },
  };
}

function draw(weights: readonly number[], uniform: number): number {
  let left = uniform * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [i, weight] of weights.entries()) {
    if (left < weight) return i;
    left -= weight;
  }
  return weights.findLastIndex((weight) => weight > 0);
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
