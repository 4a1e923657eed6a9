import { checkFunction, oneAtATime } from '@coplay/core/checks';
import { type EvaluationCounts, LeafEvaluator } from './leaf-evaluator';
import type { SearchNetworks } from './networks';
import { addNoise } from './noise';
import { resolveSearch, type SearchOptions, type SearchSettings } from './options';
import { checkRoots, type SearchRoots } from './roots';
import { SearchMemory } from './search-memory';
import { Simulation } from './simulation';
import type { SearchResult } from './summarise';
import { summarise } from './summarise';

/** Counters of a search since it was made. */
export interface SearchCounts {
  /** Paths from a root down, over all trees. */
  readonly simulations: number;
  /** States that needed a prior and a value, and rows that `networks.focal` evaluated for them. */
  readonly focalRequests: number;
  readonly focalEvaluated: number;
  /** The same of policies of co-players, and `networks.coPlayers`. */
  readonly coPlayerRequests: number;
  readonly coPlayerEvaluated: number;
}

/**
 * A tree search for one agent among others who act at once, as in HOP (Huang et al., ICML 2024): the tree holds the
 * agent's own actions only; co-players act by goal-conditioned policies, with goals drawn from the agent's beliefs anew
 * for each tree.
 */
export interface TreeSearch {
  /** The options with defaults filled in. */
  readonly settings: Readonly<SearchSettings>;
  readonly counts: SearchCounts;
  /**
   * Searches from R roots: in each simulation all trees go down to a new state, the states are simulated at once, and
   * one call of each network evaluates them. Searches of one object run one after the other. The same generators give
   * the same result, to the bit where the networks do.
   *
   * @throws CoplayError for roots that don't fit the game, and for answers of the networks that are too short or not
   *         numbers
   */
  search(roots: SearchRoots, networks: SearchNetworks): Promise<SearchResult>;
  /** Forgets the answers of the networks, after running searches. Call it when parameters have changed. */
  forget(): void;
}

/**
 * Makes a search. Its memory grows with the roots of the largest search so far, and is kept.
 *
 * @throws CoplayError for unknown or wrong options
 */
export function createSearch(options: SearchOptions): TreeSearch {
  return new Search(resolveSearch(options, 'createSearch'));
}

class Search implements TreeSearch {
  private simulations = 0; // in all searches
  private readonly leaves: LeafEvaluator;
  private memory: SearchMemory;
  private simulation: Simulation;
  private readonly inTurn = oneAtATime();

  constructor(readonly settings: SearchSettings) {
    this.leaves = new LeafEvaluator(settings);
    [this.memory, this.simulation] = this.grow(settings.trees);
  }

  get counts(): SearchCounts {
    const counts: EvaluationCounts = this.leaves.counts;
    return { simulations: this.simulations, ...counts };
  }

  search(roots: SearchRoots, networks: SearchNetworks): Promise<SearchResult> {
    return this.inTurn(async () => {
      try {
        return await this.run(roots, networks);
      } catch (error) {
        this.leaves.forget(); // queries of a failed search have no answer
        throw error;
      }
    });
  }

  forget(): void {
    void this.inTurn(async () => this.leaves.forget()); // after running searches, which need the answers
  }

  private async run(roots: SearchRoots, networks: SearchNetworks): Promise<SearchResult> {
    const { settings, leaves } = this;
    const goals = checkRoots(settings.game, roots);
    checkNetworks(networks);
    const count = roots.rows * settings.trees;
    if (count > this.memory.capacity) [this.memory, this.simulation] = this.grow(count);
    const { memory } = this;
    leaves.begin(count);
    memory.plant(roots, goals);
    await this.openRoots(roots, networks);
    for (let i = 0; i < settings.simulations; i++) {
      await this.simulation.run();
      await leaves.evaluate(networks, memory);
      for (let tree = 0; tree < count; tree++) memory.backup(tree);
      this.simulations += count;
    }
    return summarise(settings, memory);
  }

  /** Evaluates the roots, and puts noise on their priors. */
  private async openRoots({ previousActions }: SearchRoots, networks: SearchNetworks): Promise<void> {
    const { memory, leaves, settings } = this;
    const { game, rootNoise } = settings;
    const A = game.agents.length;
    const nothing = new Int32Array(A).fill(-1);
    for (let tree = 0; tree < memory.count; tree++) {
      const node = memory.trees.rootOf(tree);
      leaves.request(
        memory,
        tree,
        node,
        previousActions ?? nothing,
        previousActions ? memory.roots[tree] * A : 0,
        false,
      );
    }
    await leaves.evaluate(networks, memory);
    if (!rootNoise) return;
    for (let tree = 0; tree < memory.count; tree++) {
      const from = memory.trees.rootOf(tree) * game.actions;
      addNoise(memory.trees.priors, from, game.actions, rootNoise, memory.generators[tree]);
    }
  }

  private grow(count: number): [SearchMemory, Simulation] {
    const memory = new SearchMemory(this.settings, count);
    return [memory, new Simulation(this.settings, memory, this.leaves)];
  }
}

function checkNetworks(networks: SearchNetworks): void {
  const { focal, coPlayers } = (networks ?? {}) as Partial<SearchNetworks>;
  checkFunction('search', 'networks.focal', focal);
  if (coPlayers !== undefined) checkFunction('search', 'networks.coPlayers', coPlayers);
}
