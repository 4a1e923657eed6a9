import type { Generator, SavedState, Simulator } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';

/** Ranked reward (R2; Laterre et al. 2018): the rank of a return among the latest ones. */
export interface RankedReward {
  /** Keeps a return. */
  add(value: number): void;
  /** +1 above the percentile of the returns kept, -1 below it, by chance when equal; 0 while none are kept. */
  rank(value: number, generator: Generator): number;
  state(): SavedState;
  restore(saved: SavedState): void;
}

const savedSchema = z.looseObject({ kept: z.array(z.number()) });

/**
 * @param window      returns that are kept
 * @param percentile  in (0, 100); of N sorted returns it's number ceil(N percentile / 100), counted from 1
 */
export function rankedReward({ window, percentile }: { window: number; percentile: number }): RankedReward {
  let kept: number[] = [];
  let threshold: number | undefined;
  const bound = () => {
    const sorted = [...kept].sort((a, b) => a - b);
    return sorted[Math.ceil((sorted.length * percentile) / 100) - 1];
  };
  return {
    add(value) {
      kept.push(Math.fround(value)); // as rewards are given, so that equal ones are equal
      if (kept.length > window) kept.shift();
      threshold = undefined;
    },
    rank(value, generator) {
      if (kept.length === 0) return 0;
      threshold ??= bound();
      const difference = Math.fround(value) - threshold;
      return difference === 0 ? (generator.uniform() < 0.5 ? 1 : -1) : Math.sign(difference);
    },
    state: () => ({ kept: [...kept] }),
    restore(saved) {
      checkArgument('rankedReward.restore', 'saved', savedSchema, saved);
      kept = [...(saved['kept'] as readonly number[])];
      threshold = undefined;
    },
  };
}

/**
 * A simulator whose agents are paid ranks: the reward of an agent's last step (its whole return, in a game that pays at
 * the end) as its rank, nothing before. The tree then counts in the unit of the value targets.
 */
export function rankedSimulator(simulator: Simulator, ranks: RankedReward): Simulator {
  return {
    game: simulator.game,
    async step(states, actions, generator, result) {
      const { game } = simulator;
      const count = (states.length / game.stateSize) * game.agents.length;
      const wasActive = new Uint8Array(count);
      for (let at = 0; at < count; at++) {
        const offset = Math.floor(at / game.agents.length) * game.stateSize;
        wasActive[at] = game.isActive(states, offset, at % game.agents.length) ? 1 : 0;
      }
      await simulator.step(states, actions, generator, result);
      for (let at = 0; at < count; at++) {
        const isLast = wasActive[at] === 1 && (result.terminated[at] === 1 || result.truncated[at] === 1);
        result.rewards[at] = isLast ? ranks.rank(result.rewards[at], generator) : 0;
      }
    },
  };
}
