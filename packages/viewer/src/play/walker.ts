import { type ArrayOf, allocate, checkGame, type DType, type Game, type GridParts } from '@coplay/core';
import { allocateGrid, allocateObservations, type GridArrays } from '@coplay/core/arrays';
import { reachedGoal } from '@coplay/core/checks';

/** How much rather an action is taken that costs a step less: by the factor e^2. */
const RATIONALITY = 2;
/** Row and column steps of actions by their names. */
const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  up: [-1, 0],
  down: [1, 0],
  left: [0, -1],
  right: [0, 1],
};

/** The policy of an agent that walks to a goal. */
export interface Walker {
  /**
   * Pr(a | s, g) of what everyone did in a state.
   *
   * @param state    [stateSize] before the actions
   * @param actions  [A] -1 for who had left
   * @returns [A, G] 1 for who had left, and for goals that weren't open
   */
  likelihoods(state: ArrayOf<DType>, actions: ArrayLike<number>): Float64Array;
}

/**
 * A noisily rational walker: of its legal actions it takes one with a probability proportional to exp(-2 cost), where
 * cost is the steps that are lost on the way to the nearest thing of its goal (0 for a step of a shortest path, 1 for
 * staying, 2 for a step away or for reaching another goal). An agent with the goal `noGoal` takes all actions that
 * reach no goal with equal probability. After Baker, Saxe and Tenenbaum (2009).
 *
 * @returns undefined for a game without grid parts, or whose goals are neither its kinds of things nor its cells, or
 *          are recognised by the states before and after a step
 */
export function goalWalker(game: Game): Walker | undefined {
  checkGame('goalWalker', game);
  const { grid, goals } = game;
  if (!grid || !goals || goals.readsStates) return undefined;
  const [G, cells] = [goals.names.length, grid.rows * grid.columns];
  const byKind = G === grid.things.length;
  if (!byKind && !(goals.noGoal === cells && G === cells + 1 && grid.things.length === 1)) return undefined;
  const parts = allocateGrid(grid, game.agents.length, 1);
  const costs = actionCosts(game, grid, parts);
  const isTarget = (goal: number) => (cell: number) =>
    byKind ? parts.things[goal * cells + cell] === 1 : cell === goal && parts.things[cell] === 1;

  return {
    likelihoods(state, actions) {
      grid.read(state, 0, parts, 0);
      const found = new Float64Array(game.agents.length * G).fill(1);
      for (let goal = 0; goal < G; goal++) {
        if (goals.isOpen?.(goal, state, 0) === false) continue;
        const distances = goal === goals.noGoal ? undefined : distancesTo(grid, parts, isTarget(goal));
        game.agents.forEach((_, agent) => {
          if (actions[agent] < 0 || parts.cells[agent] === cells) return;
          const weights = costs(state, agent, goal, distances).map((cost) => Math.exp(-RATIONALITY * cost));
          const total = weights.reduce((sum, weight) => sum + weight, 0);
          found[agent * G + goal] = weights[actions[agent]] / total;
        });
      }
      return found;
    },
  };
}

/** [K] steps that an action loses on the way to a goal; infinite for illegal ones. */
type ActionCosts = (state: ArrayOf<DType>, agent: number, goal: number, distances: Int32Array | undefined) => number[];

function actionCosts(game: Game, grid: GridParts, parts: GridArrays): ActionCosts {
  const goals = game.goals!;
  const mask = new Uint8Array(game.actions);
  const seen = allocateObservations(game.observation, 1);
  const none = allocate(game.stateType, 0);
  return (state, agent, goal, distances) => {
    game.legal(state, 0, agent, mask, 0);
    if (goals.reads) game.observe(state, 0, agent, seen, 0);
    const cell = parts.cells[agent];
    return game.actionNames.map((name, action) => {
      if (mask[action] === 0) return Number.POSITIVE_INFINITY;
      const reached = reachedGoal(`goals.reached of ${game.name}`, goals, {
        agent,
        action,
        left: true,
        observations: seen,
        row: 0,
        before: none,
        after: none,
      });
      if (reached >= 0) return reached === goal ? 0 : 2;
      if (distances === undefined) return 0;
      return distances[cell] < 0 ? 1 : 1 + distances[neighbour(grid, cell, name)] - distances[cell];
    });
  };
}

/** Where a move leads that is legal; the same cell for other actions. */
function neighbour({ columns }: GridParts, cell: number, action: string): number {
  const [down, right] = MOVES[action] ?? [0, 0];
  return cell + down * columns + right;
}

/** [H * W] steps to the nearest target around cells that can't be entered; -1 where none can be reached. */
function distancesTo(grid: GridParts, { fixed }: GridArrays, isTarget: (cell: number) => boolean): Int32Array {
  const { rows, columns } = grid;
  const wall = Math.max(0, grid.fixed.indexOf('obstacles')) * rows * columns;
  const distances = new Int32Array(rows * columns).fill(-1);
  const queue = Array.from(distances.keys()).filter(isTarget);
  for (const cell of queue) distances[cell] = 0;
  // The queue grows while it's walked through.
  for (const cell of queue) {
    for (const [down, right] of Object.values(MOVES)) {
      const [row, column] = [Math.floor(cell / columns) + down, (cell % columns) + right];
      const next = row * columns + column;
      if (row < 0 || column < 0 || row >= rows || column >= columns) continue;
      if (distances[next] >= 0 || fixed[wall + next] === 1) continue;
      distances[next] = distances[cell] + 1;
      queue.push(next);
    }
  }
  return distances;
}
