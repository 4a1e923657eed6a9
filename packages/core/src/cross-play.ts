import type { AgentId } from './game';

/** Episodes of one seating. */
export interface SeatedPlay {
  /** [A] the policy in each seat */
  readonly seating: readonly string[];
  /** [episodes, A] undiscounted sums of rewards; NaN where the agent never played in the episode */
  readonly returns: Float64Array;
}

/**
 * Policies that played each other: `crossPlay` of `@coplay/trainers` plays, `crossPlaySummary` of `@coplay/diagnostics`
 * reads. There is a play of each policy in all seats, and of each in one seat among agents of another in all others.
 */
export interface CrossPlay {
  /** `game.name` */
  readonly game: string;
  /** [A] the seats */
  readonly agents: readonly AgentId[];
  readonly policies: readonly string[];
  readonly plays: readonly SeatedPlay[];
}
