import type { Agent, AgentId, Game } from '@coplay/core';
import { mixed, nearestHare, nearestStag, randomAgent, switcher, titForTat } from '@coplay/envs';

/** How a co-player's goals go from episode to episode. */
type Habit = 'fixed' | 'changing' | 'other';

/** What a co-player knows of the meeting. */
interface MeetingFacts {
  /** Episodes of the whole meeting. */
  readonly episodes: number;
  /** The focal agents. */
  readonly focal: readonly AgentId[];
}

/** A rule, or an agent that learned elsewhere: in any case one that focal agents have never met. */
export interface CoPlayer {
  readonly habit: Habit;
  make(game: Game, id: AgentId, meeting: MeetingFacts): Agent;
  /** Frees its networks, if it has any. */
  dispose?(): void;
}

/**
 * The rules, by label. `distinct.ts` says which episodes of a rule are those of an earlier one in the list.
 */
export const CO_PLAYERS: Readonly<Record<string, CoPlayer>> = {
  Random: { habit: 'other', make: (game, id) => randomAgent({ game, id }) as Agent },
  NearestStag: { habit: 'fixed', make: (game, id) => nearestStag({ game, id }) as Agent },
  NearestHare: { habit: 'fixed', make: (game, id) => nearestHare({ game, id }) as Agent },
  'Mixed(0.5)': { habit: 'changing', make: (game, id) => mixed({ game, id, p: 0.5 }) as Agent },
  'Switcher, hare to stag': {
    habit: 'changing',
    make: (game, id, { episodes }) => {
      const [first, second] = [nearestHare({ game, id }), nearestStag({ game, id })] as unknown as [Agent, Agent];
      return switcher({ game, id, first, second, episodes: Math.floor(episodes / 2) }) as Agent;
    },
  },
  'TitForTat of all others': { habit: 'other', make: (game, id) => titForTat({ game, id }) as Agent },
  'TitForTat of focal agents': {
    habit: 'other',
    make: (game, id, { focal }) => titForTat({ game, id, watches: focal }) as Agent,
  },
};
