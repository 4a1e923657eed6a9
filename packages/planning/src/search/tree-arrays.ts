import { type ArrayOf, allocate, type DType, type Game } from '@coplay/core';
import type { SearchSettings } from './options';

/** No child, no sibling. */
export const NONE = -1;

/** The kinds of nodes: play goes on; the searching agent has ended; a time limit cut the episode. */
export const OPEN = 0;
export const ENDED = 1;
export const CUT = 2;

/** How large a {@link TreeArrays} is. */
export interface TreeSize {
  readonly game: Game;
  /** B */
  readonly trees: number;
  /** N, nodes of a tree at most */
  readonly nodes: number;
  /** Whether co-players' policies are kept, and several states may follow an action: for sampling per visit. */
  readonly perVisit: boolean;
}

/**
 * B search trees as arrays. Node n of tree b is number b N + n everywhere; its root is number b N. Edge k of node v,
 * its action, is number v K + k.
 */
export class TreeArrays {
  /** [B] nodes that each tree has */
  readonly counts: Int32Array;
  /** [B N, S] */
  readonly states: ArrayOf<DType>;
  /** [B N] {@link OPEN}, {@link ENDED} or {@link CUT} */
  readonly kinds: Uint8Array;
  /** [B N] reward on arrival, of the agent that searches */
  readonly rewards: Float64Array;
  /** [B N] the critic's value */
  readonly values: Float64Array;
  /** [B N] visits of all edges together */
  readonly totals: Int32Array;
  /** [B N, A] what co-players do there in this tree (sampled per node) */
  readonly coActions: Int32Array;
  /** [B N, A, K] what co-players may do there (sampled per visit) */
  readonly coPolicies: Float32Array;
  /** [B N] the next state that followed the same action (sampled per visit) */
  readonly siblings: Int32Array;
  /** [B N, K] P(s, a); -1 where illegal */
  readonly priors: Float32Array;
  /** [B N, K] N(s, a) */
  readonly visits: Int32Array;
  /** [B N, K] W(s, a) */
  readonly sums: Float64Array;
  /** [B N, K] the first child */
  readonly children: Int32Array;

  constructor(readonly size: TreeSize) {
    const { game, trees, nodes, perVisit } = size;
    const count = trees * nodes;
    const K = game.actions;
    const A = game.agents.length;
    this.counts = new Int32Array(trees);
    this.states = allocate(game.stateType, count * game.stateSize) as ArrayOf<DType>;
    this.kinds = new Uint8Array(count);
    this.rewards = new Float64Array(count);
    this.values = new Float64Array(count);
    this.totals = new Int32Array(count);
    this.coActions = new Int32Array(perVisit ? 0 : count * A);
    this.coPolicies = new Float32Array(perVisit ? count * A * K : 0);
    this.siblings = new Int32Array(perVisit ? count : 0);
    this.priors = new Float32Array(count * K);
    this.visits = new Int32Array(count * K);
    this.sums = new Float64Array(count * K);
    this.children = new Int32Array(count * K);
  }

  /** Empties the first `trees` trees. */
  clear(trees: number): void {
    this.counts.fill(0, 0, trees);
  }

  rootOf(tree: number): number {
    return tree * this.size.nodes;
  }

  /** A new node of a tree, with a copy of the state. */
  add(tree: number, kind: number, reward: number, states: ArrayOf<DType>, offset: number): number {
    const { game, nodes } = this.size;
    const node = tree * nodes + this.counts[tree]++;
    const S = game.stateSize;
    for (let i = 0; i < S; i++) this.states[node * S + i] = states[offset + i];
    this.kinds[node] = kind;
    this.rewards[node] = reward;
    this.totals[node] = 0;
    const from = node * game.actions;
    for (let edge = from; edge < from + game.actions; edge++) {
      this.visits[edge] = 0;
      this.sums[edge] = 0;
      this.children[edge] = NONE;
    }
    return node;
  }

  /** The child below an edge that has this state; NONE if there is none yet (sampled per visit). */
  childWith(edge: number, states: ArrayOf<DType>, offset: number): number {
    const S = this.size.game.stateSize;
    for (let child = this.children[edge]; child !== NONE; child = this.siblings[child]) {
      let i = 0;
      while (i < S && this.states[child * S + i] === states[offset + i]) i++;
      if (i === S) return child;
    }
    return NONE;
  }

  /** Puts a child below an edge, before the edge's other children. */
  attach(edge: number, child: number): void {
    if (this.size.perVisit) this.siblings[child] = this.children[edge];
    this.children[edge] = child;
  }

  /**
   * The edge that PUCT takes (Silver et al. 2017, with HOP's Q): the largest Q(s, a) + c P(s, a) sqrt(sum_b N(s, b)) /
   * (1 + N(s, a)) with Q = W / N; see {@link worth} for unvisited ones. Of equal scores, the action with the larger
   * prior wins, then the first: in a new node all scores are equal.
   */
  select(node: number, { exploration, unvisited }: Pick<SearchSettings, 'exploration' | 'unvisited'>): number {
    const K = this.size.game.actions;
    const scale = exploration * Math.sqrt(this.totals[node]);
    const untried = this.worth(node, unvisited);
    let best = NONE;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (let edge = node * K; edge < (node + 1) * K; edge++) {
      const prior = this.priors[edge];
      if (prior < 0) continue;
      const visits = this.visits[edge];
      const q = visits === 0 ? untried : this.sums[edge] / visits;
      const score = q + (scale * prior) / (1 + visits);
      if (score < bestScore || (score === bestScore && prior <= this.priors[best])) continue;
      best = edge;
      bestScore = score;
    }
    return best;
  }

  /**
   * The value of an unvisited edge in a node: 0, or the node's present estimate, (V + sum_b W(s, b)) / (1 + sum_b N(s,
   * b)): the mean of the critic's value and of all returns from there.
   */
  worth(node: number, unvisited: SearchSettings['unvisited']): number {
    if (unvisited === 'zero') return 0;
    const K = this.size.game.actions;
    let sum = this.values[node];
    for (let edge = node * K; edge < (node + 1) * K; edge++) sum += this.sums[edge];
    return sum / (1 + this.totals[node]);
  }
}
