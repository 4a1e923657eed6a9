import { allocate, checkGame, checkOptions, createGenerator, fail, type Game } from '@coplay/core';
import { allocateGrid, allocateStepArrays, type GridArrays } from '@coplay/core/arrays';
import { z } from 'zod';
import type { ExplorationGoals, ExplorerView } from './goals';

/** Options of {@link gridGoals}. */
export interface GridGoalsOptions {
  /** Names in `game.grid.fixed` of the things that agents can't enter. Default: all of them */
  readonly blocking?: readonly string[];
}

const schema = z.strictObject({ blocking: z.array(z.string()).optional() });

/**
 * The cells of a grid game as goals of exploration, G = H W. An agent goes by the shortest ways, all equally likely,
 * and at the cell tries the actions that keep it there. It finds out how actions move by playing the rules. Cells that
 * it can't reach aren't open. It reads no thing that may come and go, so it doesn't know where prey is.
 *
 * @throws CoplayError for a game without grid parts
 */
export function gridGoals(game: Game, options: GridGoalsOptions = {}): ExplorationGoals {
  checkGame('gridGoals', game);
  const { grid } = game;
  if (!grid) {
    const remedy =
      'Give exploration goals of your own ("Goals of your own" in docs/exploration.md), or the game grid parts.';
    return fail('gridGoals', 'a game with grid parts', `${game.name}, which has no grid`, remedy);
  }
  const { blocking = grid.fixed } = checkOptions('gridGoals', schema, options);
  const unknown = blocking.find((name) => !grid.fixed.includes(name));
  if (unknown !== undefined) {
    fail('gridGoals: option blocking', `names of ${grid.fixed.join(', ')}`, unknown, 'See game.grid.fixed.');
  }
  const cells = grid.rows * grid.columns;
  const walls = blocking.map((name) => grid.fixed.indexOf(name) * cells);
  const { moves, keeping } = measureActions(game);
  const parts = allocateGrid(grid, game.agents.length, 1);
  const distances = new Int32Array(cells);
  const queue = new Int32Array(cells);

  /** Reads what an agent sees. @returns its cell, or `cells` if it isn't on the grid */
  function look({ observations, row, seat }: ExplorerView): number {
    grid!.see(observations, row, seat, parts, 0);
    return parts.cells[seat];
  }

  function isFree(cell: number): boolean {
    return walls.every((from) => parts.fixed[from + cell] === 0);
  }

  /** Steps from each cell to the goal; FAR where there is no way (breadth first, from the goal backwards). */
  function measureDistances(goal: number): void {
    distances.fill(FAR);
    distances[goal] = 0;
    queue[0] = goal;
    for (let head = 0, tail = 1; head < tail; head++) {
      for (const move of moves) {
        const before = neighbour(queue[head], -move.down, -move.right);
        if (before < 0 || distances[before] < FAR || !isFree(before)) continue;
        distances[before] = distances[queue[head]] + 1;
        queue[tail++] = before;
      }
    }
  }

  function neighbour(cell: number, down: number, right: number): number {
    const row = Math.floor(cell / grid!.columns) + down;
    const column = (cell % grid!.columns) + right;
    const isInside = row >= 0 && row < grid!.rows && column >= 0 && column < grid!.columns;
    return isInside ? row * grid!.columns + column : OUTSIDE;
  }

  return {
    count: cells,
    isOpen(goal, view) {
      const own = look(view);
      if (own === cells || !isFree(goal)) return false;
      measureDistances(goal);
      return distances[own] < FAR;
    },
    isReached: (goal, view) => look(view) === goal,
    actions(goal, view) {
      const own = look(view);
      if (own === goal) return keeping;
      if (own === cells) return [];
      measureDistances(goal);
      const nearer = moves.filter(({ down, right }) => {
        const next = neighbour(own, down, right);
        return next >= 0 && distances[next] < distances[own];
      });
      return nearer.map(({ action }) => action);
    },
  };
}

const FAR = 0x7fffffff;
const OUTSIDE = -1;

/** An action that moves an agent by so many cells. */
interface Move {
  readonly action: number;
  readonly down: number;
  readonly right: number;
}

/** Episodes in which each action is tried. */
const TRIALS = 32;

/**
 * How the actions of a grid game move an agent: tries each in the first step of a few episodes and takes the movement
 * that it sees most often. Actions that never move, or are never legal there, keep the agent where it is.
 */
function measureActions(game: Game): { readonly moves: readonly Move[]; readonly keeping: readonly number[] } {
  const generator = createGenerator(0);
  const state = allocate(game.stateType, game.stateSize);
  const before = allocateGrid(game.grid!, game.agents.length, 1);
  const after = allocateGrid(game.grid!, game.agents.length, 1);
  const result = allocateStepArrays(game, 1);
  const actions = new Int32Array(game.agents.length);
  const mask = new Uint8Array(game.actions);
  const counts = Array.from({ length: game.actions }, () => new Map<string, number>());

  for (let action = 0; action < game.actions; action++) {
    for (let trial = 0; trial < TRIALS; trial++) {
      game.reset(state, 0, generator);
      for (let seat = 0; seat < game.agents.length; seat++) {
        game.legal(state, 0, seat, mask, 0);
        actions[seat] = mask[action] === 1 ? action : mask.indexOf(1);
      }
      game.legal(state, 0, 0, mask, 0);
      if (mask[action] === 0 || !game.isActive(state, 0, 0)) continue;
      game.grid!.read(state, 0, before, 0);
      game.step(state, 0, actions, 0, generator, result, 0);
      game.grid!.read(state, 0, after, 0);
      const moved = movement(game, before, after);
      if (moved) counts[action].set(moved, (counts[action].get(moved) ?? 0) + 1);
    }
  }

  const most = counts.map((count) => [...count].sort(([, a], [, b]) => b - a)[0]?.[0]);
  const all = most.map((moved, action) => ({ action, moved: moved?.split(' ').map(Number) }));
  return {
    moves: all.flatMap(({ action, moved }) => (moved ? [{ action, down: moved[0], right: moved[1] }] : [])),
    keeping: all.flatMap(({ action, moved }) => (moved ? [] : [action])),
  };
}

/** `down right`, in cells, of the first agent; undefined if it stayed or left. */
function movement(game: Game, { cells: [from] }: GridArrays, { cells: [to] }: GridArrays): string | undefined {
  const { rows, columns } = game.grid!;
  if (from === to || from >= rows * columns || to >= rows * columns) return undefined;
  const down = Math.floor(to / columns) - Math.floor(from / columns);
  return `${down} ${(to % columns) - (from % columns)}`;
}
