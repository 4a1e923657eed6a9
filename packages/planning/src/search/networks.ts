import type { ArrayOf, DType } from '@coplay/core';

/**
 * n states that a search evaluates, one row each. The arrays are views of memory that the search goes on using: copy
 * the parts that you keep after the answer.
 */
export interface LeafRows {
  /** n */
  readonly rows: number;
  /** [n, S] states of the game, one after the other */
  readonly states: ArrayOf<DType>;
  /** [n] whose view it is: who searches, or the co-player */
  readonly seats: Int32Array;
  /** [n] whose networks are asked: the number that the root was given */
  readonly players: Int32Array;
  /**
   * [n, A] the previous actions of all agents, -1 for agents that had left; only with
   * `networkInputs: { previousActions: true }`
   */
  readonly previousActions?: Int32Array;
  /** [n] the root below which the state was met; only with `networkInputs: { root: true }` */
  readonly roots?: Int32Array;
}

/** States in which the agents that search need a prior and a value. */
export type FocalRows = LeafRows;

/** States in which models of co-players predict actions. */
export interface CoPlayerRows extends LeafRows {
  /** [n] the co-player's goal in this tree: 0..G-1, or -1 where beliefs weren't given or have no goal left */
  readonly goals: Int32Array;
}

/** Prior and value of n rows. Longer arrays are fine: what's behind the n rows is padding. */
export interface FocalAnswer {
  /** [n, K] logits or log-probabilities; illegal actions are left out by the search */
  readonly logits: Float32Array;
  /** [n] the discounted return that the agent in the row's seat expects from there */
  readonly values: Float32Array;
}

/**
 * The networks of a search, as functions of rows. Each is called at most once per simulation, for all trees of all
 * roots together; both calls are made before either is awaited.
 */
export interface SearchNetworks {
  focal(rows: FocalRows): FocalAnswer | Promise<FocalAnswer>;
  /** @returns [n, K] logits or log-probabilities; -Infinity rules an action out. Default: uniform over legal actions */
  coPlayers?(rows: CoPlayerRows): Float32Array | Promise<Float32Array>;
}
