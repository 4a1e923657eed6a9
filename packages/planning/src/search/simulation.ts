import type { Simulator } from '@coplay/core';
import { checkRewards } from '@coplay/core/checks';
import { drawIndex } from '@coplay/core/rows';
import type { LeafEvaluator } from './leaf-evaluator';
import type { SearchSettings } from './options';
import type { SearchMemory } from './search-memory';
import { CUT, ENDED, NONE, OPEN } from './tree-arrays';

/**
 * Takes every tree from its root down to a state that was not there before, or to an end. A tree goes on by itself
 * until a step must be simulated; then all steps are simulated at once. Per node that's one step for each tree; per
 * visit one for each level.
 */
export class Simulation {
  /** [B] trees on their way down */
  private readonly walking: Int32Array;
  private readonly perVisit: boolean;

  constructor(
    private readonly settings: SearchSettings,
    private readonly memory: SearchMemory,
    private readonly leaves: LeafEvaluator,
  ) {
    this.walking = new Int32Array(memory.capacity);
    this.perVisit = settings.coPlayerSampling === 'perVisit';
  }

  /** One path in each tree; new nodes are evaluated afterwards. */
  async run(): Promise<void> {
    const { memory, walking } = this;
    let count = memory.count;
    for (let tree = 0; tree < count; tree++) {
      memory.restart(tree);
      walking[tree] = tree;
    }
    while (count > 0) {
      let steps = 0;
      for (let i = 0; i < count; i++) if (this.advance(walking[i], steps)) walking[steps++] = walking[i];
      const simulated = this.simulate(steps);
      if (simulated) await simulated;
      this.checkSimulated(steps);
      count = 0;
      for (let row = 0; row < steps; row++) if (this.land(walking[row], row)) walking[count++] = walking[row];
    }
  }

  /**
   * Goes down until a step must be simulated, which becomes row `row`.
   *
   * @returns false where the path ended in a terminal node
   */
  private advance(tree: number, row: number): boolean {
    const { memory, perVisit, settings } = this;
    const { trees } = memory;
    for (let node = memory.nodes[tree]; ; ) {
      const edge = trees.select(node, settings);
      const at = tree * memory.maxDepth + memory.depths[tree]++;
      memory.pathEdges[at] = edge;
      const child = trees.children[edge];
      if (perVisit || child === NONE) {
        this.prepare(tree, node, edge - node * settings.game.actions, row);
        return true;
      }
      memory.pathRewards[at] = trees.rewards[child];
      memory.leafValues[tree] = trees.values[child];
      if (trees.kinds[child] !== OPEN) return false;
      node = child;
      memory.nodes[tree] = child;
    }
  }

  /** Writes a step to be simulated: the node's state and everyone's actions. */
  private prepare(tree: number, node: number, action: number, row: number): void {
    const { memory, perVisit } = this;
    const { trees, stepStates, stepActions } = memory;
    const { game } = this.settings;
    const S = game.stateSize;
    const A = game.agents.length;
    memory.nodes[tree] = node;
    for (let i = 0; i < S; i++) stepStates[row * S + i] = trees.states[node * S + i];
    const seat = memory.seats[tree];
    stepActions[row * A + seat] = action;
    for (let i = 1; i < A; i++) {
      const other = (seat + i) % A;
      stepActions[row * A + other] = perVisit
        ? this.drawCoAction(tree, node, other)
        : trees.coActions[node * A + other];
    }
  }

  private drawCoAction(tree: number, node: number, other: number): number {
    const { actions: K, agents } = this.settings.game;
    const { trees, generators } = this.memory;
    return Math.max(0, drawIndex(trees.coPolicies, generators[tree], (node * agents.length + other) * K, K));
  }

  private simulate(steps: number): Promise<void> | void {
    const { stepStates, stepActions, stepResult, generators, simulatorGenerator } = this.memory;
    const { game, simulator } = this.settings;
    const S = game.stateSize;
    const A = game.agents.length;
    if (steps === 0) return;
    if (simulator) return simulateRows(simulator, this.memory, steps, simulatorGenerator!);
    for (let row = 0; row < steps; row++) {
      const generator = generators[this.walking[row]];
      game.step(stepStates, row * S, stepActions, row * A, generator, stepResult, row);
    }
  }

  /** A reward that isn't finite would make every value above it NaN, and then no action is the best. */
  private checkSimulated(steps: number): void {
    const { game, simulator } = this.settings;
    const { stepStates, stepResult } = this.memory;
    const source = simulator ? 'the simulator' : 'step() of the game';
    checkRewards('search', game, { rewards: stepResult.rewards, rows: steps, source }, (row) => {
      return `a simulated state, step ${game.elapsed(stepStates, row * game.stateSize)}`;
    });
  }

  /**
   * Arrives in the state of row `row`.
   *
   * @returns whether the path goes on from there
   */
  private land(tree: number, row: number): boolean {
    const { memory, perVisit, settings } = this;
    const { trees, stepStates, stepResult } = memory;
    const { game } = settings;
    const own = row * game.agents.length + memory.seats[tree];
    const reward = stepResult.rewards[own];
    const at = tree * memory.maxDepth + memory.depths[tree] - 1;
    const edge = memory.pathEdges[at];
    const offset = row * game.stateSize;
    memory.pathRewards[at] = reward;
    memory.leafValues[tree] = 0;
    const isCut = stepResult.terminated[own] === 0 && stepResult.truncated[own] === 1;
    const isEnd = stepResult.terminated[own] === 1 || (isCut && settings.truncation === 'terminal');
    if (isEnd) {
      if (!perVisit) this.add(tree, edge, ENDED, reward, offset);
      return false;
    }
    const known = perVisit ? trees.childWith(edge, stepStates, offset) : NONE;
    if (known !== NONE) {
      memory.nodes[tree] = known;
      memory.leafValues[tree] = trees.values[known];
      return trees.kinds[known] === OPEN;
    }
    this.forgetActionsOfLeft(memory.nodes[tree], row);
    const node = this.add(tree, edge, isCut ? CUT : OPEN, reward, offset);
    this.leaves.request(memory, tree, node, memory.stepActions, row * game.agents.length, isCut);
    return false;
  }

  private add(tree: number, edge: number, kind: number, reward: number, offset: number): number {
    const { trees, stepStates } = this.memory;
    const node = trees.add(tree, kind, reward, stepStates, offset);
    trees.values[node] = 0;
    trees.attach(edge, node);
    return node;
  }

  /** An agent that had left before the step has no action in it: -1, as in previous actions. */
  private forgetActionsOfLeft(node: number, row: number): void {
    const { game, networkInputs } = this.settings;
    if (!networkInputs.previousActions) return;
    const { trees, stepActions } = this.memory;
    const A = game.agents.length;
    for (let agent = 0; agent < A; agent++) {
      if (!game.isActive(trees.states, node * game.stateSize, agent)) stepActions[row * A + agent] = NONE;
    }
  }
}

/** The packed steps, as a simulator takes them: arrays of exactly so many rows. */
function simulateRows(
  simulator: Simulator,
  { stepStates, stepActions, stepResult }: SearchMemory,
  steps: number,
  generator: NonNullable<SearchMemory['simulatorGenerator']>,
): Promise<void> | void {
  const { stateSize, agents } = simulator.game;
  const size = steps * agents.length;
  const result = {
    rewards: stepResult.rewards.subarray(0, size),
    terminated: stepResult.terminated.subarray(0, size),
    truncated: stepResult.truncated.subarray(0, size),
    infos: stepResult.infos,
  };
  const states = stepStates.subarray(0, steps * stateSize) as typeof stepStates;
  return simulator.step(states, stepActions.subarray(0, size), generator, result);
}
