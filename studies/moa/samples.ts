import { createEpisodeCollector, moaRows, selectEnvs } from '@coplay/buffers';
import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  type NamedArrays,
  ndarray,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { concatRows } from '@coplay/core/rows';
import { mixed } from '@coplay/envs';
import { type Optima, optimaOf } from './optimum';
import { HARE_HUNTER, playerRules, STAG_HUNTER, type Waits } from './rules';

/** Rows of players for training or for evaluation, and the best possible predictions for them. */
export interface Samples {
  /** As `moaRows` makes them, of all seats; `goals` are the players' types. */
  readonly rows: NamedArrays;
  readonly optima: Optima;
  readonly episodes: number;
}

/** Mixed(0.5) players that tell their type, as the extra `types`. */
export function mixedPlayers(game: Game, waits: Waits): Agent<Uint8Array>[] {
  return game.agents.map((id) => {
    const player = mixed({ game, id, p: 0.5, waits });
    return {
      ...player,
      async act(input, state, generator) {
        const output = await player.act(input, state, generator);
        const types = Float32Array.from(output.state, (huntsStags) => (huntsStags === 1 ? STAG_HUNTER : HARE_HUNTER));
        return { ...output, extras: { types: ndarray(types) } };
      },
    };
  });
}

/** Whole episodes of four Mixed(0.5) players, with at least `count` samples (steps of one agent). */
export async function playEpisodes(game: Game, waits: Waits, count: number, seed: number): Promise<Experience[]> {
  const env = vectorEnv(game, { envs: 64, seed: streamSeed(seed, 'samples/env') });
  const rollout = createRollout(env, mixedPlayers(game, waits), createGenerator(streamSeed(seed, 'samples/agents')));
  const collector = createEpisodeCollector();
  const parts: Experience[] = [];
  for (let played = 0; played < count; ) {
    const episodes = collector.push(await rollout.collect(64));
    parts.push(episodes);
    played += episodes.active.reduce((sum, active) => sum + active, 0);
  }
  return parts;
}

/** Splits episodes into those to learn from and, one in five, those to evaluate on, `count` samples in all. */
export function splitSamples(game: Game, waits: Waits, parts: readonly Experience[], count: number) {
  const learning: Samples[] = [];
  const heldOut: Samples[] = [];
  let left = count;
  for (const part of parts) {
    const chosen = { learning: [] as number[], heldOut: [] as number[] };
    for (let e = 0; e < part.envs && left > 0; e++) {
      left -= samplesIn(part, e);
      (e % 5 === 4 ? chosen.heldOut : chosen.learning).push(e);
    }
    if (chosen.learning.length > 0) learning.push(samplesOf(game, waits, selectEnvs(part, chosen.learning)));
    if (chosen.heldOut.length > 0) heldOut.push(samplesOf(game, waits, selectEnvs(part, chosen.heldOut)));
  }
  return { learning: joinSamples(learning), heldOut: joinSamples(heldOut) };
}

function samplesIn({ steps, agents, active }: Experience, e: number): number {
  const width = steps * agents.length;
  return active.subarray(e * width, (e + 1) * width).reduce((sum, one) => sum + one, 0);
}

/** The rows of all seats of some episodes. */
function samplesOf(game: Game, waits: Waits, episodes: Experience): Samples {
  const rules = playerRules(game, waits);
  const seats = game.agents.map((_, seat): Samples => {
    const rows = moaRows(episodes, seat);
    const types = typesOf(episodes, seat);
    return {
      rows: { ...rows, goals: ndarray(types) },
      optima: optimaOf(game, rules, waits, episodes, seat),
      episodes: episodes.envs,
    };
  });
  return { ...joinSamples(seats), episodes: episodes.envs };
}

/** [N] the types behind a seat's rows. */
function typesOf({ agents, active, extras }: Experience, seat: number): Int32Array {
  const types: number[] = [];
  for (let i = seat; i < active.length; i += agents.length) {
    if (active[i] === 1) types.push(extras['types'].data[i]);
  }
  return Int32Array.from(types);
}

function joinSamples(parts: readonly Samples[]): Samples {
  const join = (name: keyof Optima) => {
    const pieces = parts.map(({ optima }) => optima[name]);
    const all = new Float64Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  };
  return {
    rows: concatRows(parts.map(({ rows }) => rows)),
    optima: { type: join('type'), history: join('history'), present: join('present'), stateOnly: join('stateOnly') },
    episodes: parts.reduce((sum, { episodes }) => sum + episodes, 0),
  };
}
