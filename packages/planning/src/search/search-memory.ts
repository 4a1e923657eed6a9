import { type ArrayOf, allocate, type DType, type Generator, type StepArrays } from '@coplay/core';
import { allocateStepArrays } from '@coplay/core/arrays';
import { drawIndex } from '@coplay/core/rows';
import type { SearchSettings } from './options';
import type { SearchRoots } from './roots';
import { NONE, TreeArrays } from './tree-arrays';

/** Keys of a root's children: its trees are 0, 1, ... */
const ACTION_KEY = 2 ** 32 - 1;
const SIMULATOR_KEY = 2 ** 32 - 2;

/**
 * The working memory of a search with room for B trees: the trees, the agent, goals and generator of each tree, and
 * the path of each tree in the present simulation.
 */
export class SearchMemory {
  readonly trees: TreeArrays;
  /** Number of trees in the present search. */
  count = 0;
  /** [B] */
  readonly roots: Int32Array;
  /** [B] */
  readonly seats: Int32Array;
  /** [B] */
  readonly players: Int32Array;
  /** [B, A] goals drawn for the co-players; -1 for the own seat, and where nothing is known */
  readonly goals: Int32Array;
  /** [B] */
  generators: Generator[] = [];
  /** Draws the action at each root. */
  actionGenerators: Generator[] = [];
  /** The generator of a simulator other than the rules. */
  simulatorGenerator: Generator | undefined;

  /** [B, D] edges taken, and rewards on the way */
  readonly pathEdges: Int32Array;
  readonly pathRewards: Float64Array;
  /** D, steps of a path at most */
  readonly maxDepth: number;
  /** [B] steps taken */
  readonly depths: Int32Array;
  /** [B] where it is */
  readonly nodes: Int32Array;
  /** [B] value of the state at the path's end */
  readonly leafValues: Float64Array;

  /** [B, S], [B, A]: steps to be simulated, packed */
  readonly stepStates: ArrayOf<DType>;
  readonly stepActions: Int32Array;
  readonly stepResult: StepArrays;

  constructor(
    readonly settings: SearchSettings,
    readonly capacity: number,
  ) {
    const { game, simulations, coPlayerSampling } = settings;
    const A = game.agents.length;
    this.maxDepth = simulations + 1;
    this.trees = new TreeArrays({
      game,
      trees: capacity,
      nodes: simulations + 1,
      perVisit: coPlayerSampling === 'perVisit',
    });
    this.roots = new Int32Array(capacity);
    this.seats = new Int32Array(capacity);
    this.players = new Int32Array(capacity);
    this.goals = new Int32Array(capacity * A);
    this.pathEdges = new Int32Array(capacity * this.maxDepth);
    this.pathRewards = new Float64Array(capacity * this.maxDepth);
    this.depths = new Int32Array(capacity);
    this.nodes = new Int32Array(capacity);
    this.leafValues = new Float64Array(capacity);
    this.stepStates = allocate(game.stateType, capacity * game.stateSize) as ArrayOf<DType>;
    this.stepActions = new Int32Array(capacity * A);
    this.stepResult = allocateStepArrays(game, capacity);
  }

  /** Plants the trees of each root: a generator, goals for the co-players, a node with the root's state. */
  plant(roots: SearchRoots, goals: number): void {
    const { trees, game } = this.settings;
    const { rows, generator } = roots;
    this.count = rows * trees;
    this.trees.clear(this.count);
    this.generators = [];
    this.actionGenerators = [];
    const generators = isList(generator) ? generator.map((one) => one.fork()) : children(generator.fork(), rows);
    for (let root = 0; root < rows; root++) {
      const own = generators[root];
      this.actionGenerators.push(own.split(ACTION_KEY));
      for (let i = 0; i < trees; i++) {
        const tree = root * trees + i;
        this.generators.push(own.split(i));
        this.roots[tree] = root;
        this.seats[tree] = roots.seats[root];
        this.players[tree] = (roots.players ?? roots.seats)[root];
        this.drawGoals(tree, roots, goals);
        this.trees.add(tree, 0, 0, roots.states, root * game.stateSize);
      }
    }
    this.simulatorGenerator = generators[0].split(SIMULATOR_KEY);
  }

  /** In cyclic order from the own seat on, so that renaming the seats in a circle changes nothing. */
  private drawGoals(tree: number, { beliefs }: SearchRoots, goals: number): void {
    const A = this.settings.game.agents.length;
    const seat = this.seats[tree];
    this.goals.fill(NONE, tree * A, (tree + 1) * A);
    if (!beliefs) return;
    for (let i = 1; i < A; i++) {
      const other = (seat + i) % A;
      const from = (this.roots[tree] * A + other) * goals;
      this.goals[tree * A + other] = drawIndex(beliefs, this.generators[tree], from, goals);
    }
  }

  /** Goes back to the root. */
  restart(tree: number): void {
    this.depths[tree] = 0;
    this.nodes[tree] = this.trees.rootOf(tree);
  }

  /** Adds the simulation's result to every edge of the path: the discounted return from there on. */
  backup(tree: number): void {
    const { trees, maxDepth, settings } = this;
    const K = settings.game.actions;
    let value = this.leafValues[tree];
    for (let at = tree * maxDepth + this.depths[tree] - 1; at >= tree * maxDepth; at--) {
      const edge = this.pathEdges[at];
      value = this.pathRewards[at] + settings.gamma * value;
      trees.sums[edge] += value;
      trees.visits[edge]++;
      trees.totals[Math.floor(edge / K)]++;
    }
  }
}

/** [R] */
function children(generator: Generator, rows: number): Generator[] {
  return Array.from({ length: rows }, (_, root) => generator.split(root));
}

function isList(generator: SearchRoots['generator']): generator is readonly Generator[] {
  return Array.isArray(generator);
}
