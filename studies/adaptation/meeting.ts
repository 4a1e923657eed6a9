import { type Agent, evaluate, type Game } from '@coplay/core';
import { mean } from '@coplay/diagnostics/statistics';
import type { CoPlayer } from './co-players';

/** How many focal agents there are among the four. */
export const LINE_UPS = { '1 + 3': 1, '3 + 1': 3 } as const;

/** A name of {@link LINE_UPS}. */
export type LineUp = keyof typeof LINE_UPS;

/** Who meets whom, and for how long. */
export interface Meeting {
  readonly game: Game;
  /** Makes a focal agent for a seat, which knows nobody. */
  readonly focal: (seat: number) => Agent;
  readonly coPlayer: CoPlayer;
  readonly lineUp: LineUp;
  readonly episodes: number;
  /** Games of so many episodes each, played at once; the seats of the focal agents depend on the seed. */
  readonly games: number;
  readonly seed: number;
}

/**
 * Focal agents meet co-players, episode after episode: they keep their memory. Games are played at once; each has a
 * memory of its own (option `memories` of HOP), and knows nobody at first.
 *
 * @returns [episodes] mean return of the focal agents, over games
 */
export async function meet(meeting: Meeting): Promise<number[]> {
  const { game, focal, coPlayer, lineUp, episodes, games, seed } = meeting;
  const A = game.agents.length;
  const seats = focalSeats(A, LINE_UPS[lineUp], seed);
  const facts = { episodes, focal: seats.map((seat) => game.agents[seat]) };
  const agents = game.agents.map((id, seat) => (seats.includes(seat) ? focal(seat) : coPlayer.make(game, id, facts)));
  const { returns } = await evaluate(game, agents, { episodes: episodes * games, envs: games, seed });
  return Array.from({ length: episodes }, (_, episode) => {
    // Environment n played the episodes from n times their number on.
    const rows = Array.from({ length: games }, (_, n) => (n * episodes + episode) * A);
    return mean(rows.flatMap((row) => seats.map((seat) => returns[row + seat])));
  });
}

/** Seats of `count` focal agents, from one on that is another for each game. */
export function focalSeats(agents: number, count: number, first: number): number[] {
  return Array.from({ length: count }, (_, i) => (first + i) % agents);
}
