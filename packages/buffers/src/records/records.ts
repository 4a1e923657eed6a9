import type { ActionSpaces, ActionsOf, AgentId, NamedArrays, ObservationArrays, ObservationSpec } from '@coplay/core';

/**
 * The episodes of an `Experience` as DreamerV3 sees them: one record for each observation, so that an episode of n
 * steps has n + 1 records, and a reward stands with the observation it arrived with.
 *
 * ```
 * step of Experience       0              1              2 (the last)
 * observation              o0             o1             o2             (o3)
 * action                   a0             a1             a2
 * reward                   r0             r1             r2
 *
 * record                   0              1              2              3
 * observation              o0             o1             o2             o3
 * reward (on arrival)      0              r0             r1             r2
 * action (taken there)     a0             a1             a2             0
 * isFirst                  1              0              0              0
 * isLast                   0              0              0              1
 * ```
 *
 * Arrays are [E, R, A, ...], R records; the game's states aren't kept. An agent that ends before the others has its
 * last record there and then.
 */
export interface Records<Spaces extends ActionSpaces = number> {
  readonly agents: readonly AgentId[];
  readonly observation: ObservationSpec;
  /** E */
  readonly envs: number;
  /** R */
  readonly records: number;
  /** K, the number of discrete actions; of other spaces the size of the longest mask, 0 where all are boxes */
  readonly actionCount: number;
  /** The actions of the game, unless they are discrete: then `actionCount` says it all. */
  readonly actionSpaces?: ActionSpaces;
  /** [E, R, A, ...shape] for each field. Zeros in the last record of an episode whose last observation wasn't kept. */
  readonly observations: ObservationArrays;
  /** [E, R, A, K] */
  readonly masks: Uint8Array;
  /** [E, R, A] taken after this observation; 0 in an agent's last record. In other spaces [E, R, A, W] */
  readonly actions: ActionsOf<Spaces>;
  /**
   * [E, R, A] that led to this observation; -1 in the first record and for agents that had left. In other spaces [E, R,
   * A, W], and NaN for -1 where an agent has a box
   */
  readonly previousActions: ActionsOf<Spaces>;
  /** [E, R, A] that arrived with this observation; 0 in the first record */
  readonly rewards: Float32Array;
  /** [E, R, A] 1 up to and including an agent's last record; 0 in padding */
  readonly active: Uint8Array;
  /** [E, R] 1 in the first record of an episode */
  readonly isFirst: Uint8Array;
  /** [E, R, A] 1 in an agent's last record of an episode; nowhere where the stream was cut while it played on */
  readonly isLast: Uint8Array;
  /** [E, R, A] 1 in an agent's last record where it ended by the rules: nothing more is to be earned */
  readonly isTerminal: Uint8Array;
  /** [E] records that are filled: one more than steps */
  readonly lengths: Int32Array;
  /** [E] 1 where a model made it */
  readonly isImagined: Uint8Array;
  /** Named numbers [E, R, A, ...] of the step that was taken here; 0 in the last record */
  readonly extras: NamedArrays;
}
