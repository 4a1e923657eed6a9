import type { Game } from '@coplay/core';
import type { HopSearchOptions } from '@coplay/trainers';
import type { BoardName } from './boards';

/** What all trials have in common. */
export interface Plan {
  readonly board: BoardName;
  readonly game: Game;
  /** Probability that a partner of another kind plays a seat in training. */
  readonly share: number;
  /** Labels of `CO_PLAYERS` and `LEARNERS`. */
  readonly coPlayers: readonly string[];
  readonly search: HopSearchOptions;
  readonly episodes: number;
  readonly games: number;
}
