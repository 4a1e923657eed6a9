import { checkFunction, oneAtATime } from '@coplay/core';
import { Leaves, type QuestionCounts } from './leaves';
import type { SearchNetworks } from './networks';
import { addNoise } from './noise';
import { resolveSearch, type SearchOptions, type SearchSettings } from './options';
import type { SearchResult } from './result';
import { checkRoots, type SearchRoots } from './roots';
import { summarise } from './summarise';
import { Trees } from './trees';
import { Walk } from './walk';

/** Counters of a search since it was made. */
export interface SearchCounts {
  /** Paths from a root down, over all trees. */
  readonly simulations: number;
  /** States in which a prior and a value were wanted, and rows that the networks were asked for them. */
  readonly focalAsked: number;
  readonly focalRows: number;
  /** The same of what co-players do. */
  readonly coPlayersAsked: number;
  readonly coPlayerRows: number;
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
   * all are put to the networks at once. Searches of one object run one after the other. The same generators give the
   * same result, to the bit where the networks do.
   *
   * @throws CoplayError for roots that don't fit the game, and for answers of the networks that are too short or not
   *         numbers
   */
  search(roots: SearchRoots, networks: SearchNetworks): Promise<SearchResult>;
  /** Forgets the answers of the networks, after searches under way: to be called when their parameters have changed. */
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
  private simulations = 0;
  private readonly leaves: Leaves;
  private trees: Trees;
  private walk: Walk;
  private readonly inTurn = oneAtATime();

  constructor(readonly settings: SearchSettings) {
    this.leaves = new Leaves(settings);
    [this.trees, this.walk] = this.grow(settings.trees);
  }

  get counts(): SearchCounts {
    const counts: QuestionCounts = this.leaves.counts;
    return { simulations: this.simulations, ...counts };
  }

  search(roots: SearchRoots, networks: SearchNetworks): Promise<SearchResult> {
    return this.inTurn(async () => {
      try {
        return await this.run(roots, networks);
      } catch (error) {
        this.leaves.forget(); // questions of a search that failed have no answer
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
    if (count > this.trees.capacity) [this.trees, this.walk] = this.grow(count);
    const { trees, walk } = this;
    leaves.begin(count);
    trees.plant(roots, goals);
    await this.openRoots(roots, networks);
    for (let simulation = 0; simulation < settings.simulations; simulation++) {
      await walk.run();
      await leaves.evaluate(networks, trees);
      for (let tree = 0; tree < count; tree++) trees.backup(tree);
      this.simulations += count;
    }
    return summarise(settings, trees);
  }

  /** Evaluates the roots, and puts noise on their priors. */
  private async openRoots({ previousActions }: SearchRoots, networks: SearchNetworks): Promise<void> {
    const { trees, leaves, settings } = this;
    const { game, rootNoise } = settings;
    const A = game.agents.length;
    const nothing = new Int32Array(A).fill(-1);
    for (let tree = 0; tree < trees.count; tree++) {
      const node = trees.forest.rootOf(tree);
      leaves.ask(trees, tree, node, previousActions ?? nothing, previousActions ? trees.roots[tree] * A : 0, false);
    }
    await leaves.evaluate(networks, trees);
    if (!rootNoise) return;
    for (let tree = 0; tree < trees.count; tree++) {
      const from = trees.forest.rootOf(tree) * game.actions;
      addNoise(trees.forest.priors, from, game.actions, rootNoise, trees.generators[tree]);
    }
  }

  private grow(count: number): [Trees, Walk] {
    const trees = new Trees(this.settings, count);
    return [trees, new Walk(this.settings, trees, this.leaves)];
  }
}

function checkNetworks(networks: SearchNetworks): void {
  const { focal, coPlayers } = (networks ?? {}) as Partial<SearchNetworks>;
  checkFunction('search', 'networks.focal', focal);
  if (coPlayers !== undefined) checkFunction('search', 'networks.coPlayers', coPlayers);
}
