import type { Generator } from '@coplay/core';
import { checkNumbers } from '@coplay/core/checks';
import { drawIndex } from '@coplay/core/rows';
import { EvaluationCache, type Query } from './evaluation-cache';
import type { SearchNetworks } from './networks';
import type { SearchSettings } from './options';
import type { SearchMemory } from './search-memory';

/** Entry of a seat without a query: the agent's own seat, or an agent that has left. */
const NOBODY = -1;

/** Requests so far, and how many rows the networks evaluated for them. */
export interface EvaluationCounts {
  focalRequests: number;
  focalEvaluated: number;
  coPlayerRequests: number;
  coPlayerEvaluated: number;
}

/**
 * New nodes that wait for their evaluation: the searching agent's policy and value there, and each co-player's policy.
 * One call of each network evaluates all of them.
 */
export class LeafEvaluator {
  readonly counts: EvaluationCounts = {
    focalRequests: 0,
    focalEvaluated: 0,
    coPlayerRequests: 0,
    coPlayerEvaluated: 0,
  };
  private readonly focal: EvaluationCache;
  private readonly coPlayers: EvaluationCache;
  /** W, nodes that wait */
  private waiting = 0;
  /** [W] trees with a new node, and those nodes */
  private waitingTrees = new Int32Array(0);
  private waitingNodes = new Int32Array(0);
  /**
   * [W] the agent's own entries in the cache; [W, A] entries of its co-players, NOBODY for the agent itself and for
   * agents that have left
   */
  private focalEntries = new Int32Array(0);
  private coPlayerEntries = new Int32Array(0);
  private readonly query: Query = { seat: 0, player: 0, goal: -1, root: 0 };

  constructor(private readonly settings: SearchSettings) {
    const { game, cacheAnswers, networkInputs } = settings;
    const setup = { game, cacheAnswers, ...networkInputs };
    this.focal = new EvaluationCache(setup);
    this.coPlayers = new EvaluationCache(setup);
  }

  /** Makes room for the trees of a search. */
  begin(trees: number): void {
    const { cacheAnswers, capacity, game } = this.settings;
    if (!cacheAnswers || this.focal.count + this.coPlayers.count > capacity) this.forget();
    this.waiting = 0;
    if (this.waitingTrees.length >= trees) return;
    this.waitingTrees = new Int32Array(trees);
    this.waitingNodes = new Int32Array(trees);
    this.focalEntries = new Int32Array(trees);
    this.coPlayerEntries = new Int32Array(trees * game.agents.length);
  }

  forget(): void {
    this.focal.clear();
    this.coPlayers.clear();
  }

  /**
   * Requests the evaluation of a new node of a tree.
   *
   * @param previous  [A] from `previousOffset` on: the previous actions of all agents
   * @param isCut     whether only the value is needed
   */
  request(
    { trees, seats, players, roots, goals }: SearchMemory,
    tree: number,
    node: number,
    previous: Int32Array,
    previousOffset: number,
    isCut: boolean,
  ): void {
    const { game } = this.settings;
    const { query, counts } = this;
    const A = game.agents.length;
    const offset = node * game.stateSize;
    const at = this.waiting++;
    this.waitingTrees[at] = tree;
    this.waitingNodes[at] = node;
    query.seat = seats[tree];
    query.player = players[tree];
    query.root = roots[tree];
    query.goal = -1;
    this.focalEntries[at] = this.focal.request(query, trees.states, offset, previous, previousOffset);
    counts.focalRequests++;
    for (let other = 0; other < A; other++) {
      this.coPlayerEntries[at * A + other] = NOBODY;
      if (isCut || other === seats[tree] || !game.isActive(trees.states, offset, other)) continue;
      query.seat = other;
      query.goal = goals[tree * A + other];
      const entry = this.coPlayers.request(query, trees.states, offset, previous, previousOffset);
      this.coPlayerEntries[at * A + other] = entry;
      counts.coPlayerRequests++;
    }
  }

  /** Calls the networks once for all requests, and writes the results into the waiting nodes. */
  async evaluate(networks: SearchNetworks, memory: SearchMemory): Promise<void> {
    const own = this.focal.pending();
    const others = this.coPlayers.pending();
    this.counts.focalEvaluated += own.rows;
    this.counts.coPlayerEvaluated += others.rows;
    const K = this.settings.game.actions;
    const [focal, coPlayers] = await Promise.all([
      own.rows > 0 ? promised(() => networks.focal(own)) : undefined,
      others.rows > 0 && networks.coPlayers ? promised(() => networks.coPlayers!(others)) : undefined,
    ]);
    if (own.rows > 0) {
      checkAnswer('focal.logits', focal?.logits, own.rows * K);
      checkAnswer('focal.values', focal?.values, own.rows);
      this.focal.answer(own.rows, 'focal', focal!.logits, focal!.values);
    }
    if (others.rows > 0 && networks.coPlayers) checkAnswer('coPlayers', coPlayers, others.rows * K);
    this.coPlayers.answer(others.rows, 'coPlayers', coPlayers);
    for (let at = 0; at < this.waiting; at++) this.fill(at, memory);
    this.waiting = 0;
    if (!this.settings.cacheAnswers) this.forget();
  }

  /** Copies the answers into a node, and draws its co-players' actions. */
  private fill(at: number, memory: SearchMemory): void {
    const { game } = this.settings;
    const { trees } = memory;
    const K = game.actions;
    const tree = this.waitingTrees[at];
    const node = this.waitingNodes[at];
    const entry = this.focalEntries[at];
    for (let k = 0; k < K; k++) trees.priors[node * K + k] = this.focal.probabilities[entry * K + k];
    trees.values[node] = this.focal.values[entry];
    memory.leafValues[tree] = trees.values[node];
    const A = game.agents.length;
    for (let i = 1; i < A; i++) {
      const other = (memory.seats[tree] + i) % A;
      this.fillCoPlayer(node, other, this.coPlayerEntries[at * A + other], trees, memory.generators[tree]);
    }
  }

  private fillCoPlayer(
    node: number,
    other: number,
    entry: number,
    trees: SearchMemory['trees'],
    generator: Generator,
  ): void {
    const K = this.settings.game.actions;
    const at = node * this.settings.game.agents.length + other;
    const { probabilities } = this.coPlayers;
    const isGone = entry === NOBODY;
    if (!trees.size.perVisit) trees.coActions[at] = isGone ? 0 : drawIndex(probabilities, generator, entry * K, K);
    else if (isGone) trees.coPolicies.fill(0, at * K, (at + 1) * K);
    else for (let k = 0; k < K; k++) trees.coPolicies[at * K + k] = probabilities[entry * K + k];
  }
}

/** A promise also where the function throws at once, so that no failure is missed. */
async function promised<T>(call: () => T | Promise<T>): Promise<T> {
  return call();
}

function checkAnswer(name: string, answer: unknown, length: number): void {
  checkNumbers('search: answer of networks', name, answer, { atLeast: length, nan: true });
}
