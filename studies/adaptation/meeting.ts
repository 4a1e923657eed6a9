import { type Agent, evaluate, type Game, splitSeed } from '@coplay/core';
import { mean } from '@coplay/diagnostics/statistics';
import type { CoPlayer } from './co-players';

/** How many focal agents there are among the four. */
export const LINE_UPS = { '1 + 3': 1, '3 + 1': 3 } as const;

/** A name of {@link LINE_UPS}. */
export type LineUp = keyof typeof LINE_UPS;

/** Who meets whom, and for how long. */
export interface Meeting {
  readonly game: Game;
  /** Focal agents for every seat, of which some take part. Their memory is restored after each game. */
  readonly focal: readonly Agent[];
  readonly coPlayer: CoPlayer;
  readonly lineUp: LineUp;
  readonly episodes: number;
  /** Games of so many episodes each, with other agents in other seats; nothing is remembered from one to the next. */
  readonly games: number;
  readonly seed: number;
}

/**
 * Focal agents meet co-players, episode after episode in one environment: they keep their memory.
 *
 * @returns [episodes] mean return of the focal agents, over games
 */
export async function meet({ game, focal, coPlayer, lineUp, episodes, games, seed }: Meeting): Promise<number[]> {
  const found: number[][] = [];
  for (let number = 0; number < games; number++) {
    const seats = focalSeats(game.agents.length, LINE_UPS[lineUp], seed + number);
    const agents = game.agents.map((id, seat) => {
      return seats.includes(seat) ? focal[seat] : coPlayer.make(game, id, episodes);
    });
    const played = await evaluate(game, agents, { episodes, envs: 1, seed: splitSeed(seed, number) });
    found.push(
      Array.from({ length: episodes }, (_, episode) => {
        return mean(seats.map((seat) => played.returns[episode * game.agents.length + seat]));
      }),
    );
  }
  return found[0].map((_, episode) => mean(found.map((returns) => returns[episode])));
}

/** Seats of `count` focal agents, from one on that is another for each game. */
function focalSeats(agents: number, count: number, first: number): number[] {
  return Array.from({ length: count }, (_, i) => (first + i) % agents);
}
