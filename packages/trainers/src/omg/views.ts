import { allocate, type Game, type ObservationArrays } from '@coplay/core';
import { allocateGrid, allocateObservations, copyObservation } from '@coplay/core/arrays';

/** The information of an acting agent about B games. */
export interface OwnView {
  /** B */
  readonly rows: number;
  /** [B, ...] for each field, as the observer sees them */
  readonly observations: ObservationArrays;
  /** [B, A] in the order of the seats; -1 in the first step and for agents that had left */
  readonly previousActions: Int32Array;
  /** [B] 1 in the first step of an episode */
  readonly isFirst: Uint8Array;
}

/**
 * The views that the inference reads: N = B (A - 1) rows, the co-players of each game in cyclic order from the
 * observer.
 */
export interface CoPlayerViews {
  /** [N, ...] for each field */
  readonly observations: ObservationArrays;
  /** [N, K] the legal actions of the view's agent; zeros for the observer's own view */
  readonly masks: Uint8Array;
  /** [N, A] in cyclic order from the seat whose view it is */
  readonly previousActions: Int32Array;
  /** [N] 1 where the co-player still plays */
  readonly active: Uint8Array;
}

/**
 * Each co-player's observation, computed from the observer's; or the observer's own view, once for each.
 *
 * @param seat    the observer's
 * @param others  the co-players', in cyclic order
 */
export function coPlayerViews(
  game: Game,
  own: OwnView,
  seat: number,
  others: readonly number[],
  view: 'other' | 'own',
): CoPlayerViews {
  const rows = own.rows * others.length;
  const views: CoPlayerViews = {
    observations: allocateObservations(game.observation, rows),
    masks: new Uint8Array(rows * game.actions),
    previousActions: new Int32Array(rows * game.agents.length),
    active: new Uint8Array(rows),
  };
  if (view === 'other') writeOthers(game, own, seat, others, views);
  else writeOwn(game, own, others, views);
  const agents = game.agents.length;
  for (let row = 0; row < rows; row++) {
    const seer = view === 'other' ? others[row % others.length] : seat;
    const from = Math.floor(row / others.length) * agents;
    for (let i = 0; i < agents; i++) {
      views.previousActions[row * agents + i] = own.previousActions[from + ((seer + i) % agents)];
    }
  }
  return views;
}

/** Each game's state is put together once, and looked at from each seat. */
function writeOthers(game: Game, own: OwnView, seat: number, others: readonly number[], views: CoPlayerViews): void {
  const { grid } = game;
  if (!grid) return; // refused when the options were checked
  const parts = allocateGrid(grid, game.agents.length, 1);
  const state = allocate(game.stateType, game.stateSize);
  for (let row = 0; row < own.rows; row++) {
    grid.see(own.observations, row, seat, parts, 0);
    grid.write(parts, 0, state, 0);
    others.forEach((other, i) => {
      const to = row * others.length + i;
      game.observe(state, 0, other, views.observations, to);
      game.legal(state, 0, other, views.masks, to * game.actions);
      views.active[to] = game.isActive(state, 0, other) ? 1 : 0;
    });
  }
}

/** Without grid parts, an agent's absence is only known from its missing previous action. */
function writeOwn(game: Game, own: OwnView, others: readonly number[], views: CoPlayerViews): void {
  const agents = game.agents.length;
  for (let row = 0; row < own.rows; row++) {
    others.forEach((other, i) => {
      const to = row * others.length + i;
      copyObservation(game.observation, own.observations, row, views.observations, to);
      views.active[to] = own.isFirst[row] === 1 || own.previousActions[row * agents + other] >= 0 ? 1 : 0;
    });
  }
}
