import { z } from 'zod';
import { checkCount } from './check-values';
import { checkArgument } from './checks';
import type { ObservationArrays } from './observations';
import type { ArrayOf, DType } from './typed-arrays';

/**
 * What states of a grid game consist of, B of them; cells are counted in reading order. Models of a grid game predict
 * these parts, so an agent cannot fade, split, or jump.
 */
export interface GridArrays {
  /** [B, A] each agent's cell, in 0..H*W-1; H*W for an agent that has left. In the order of the seats */
  readonly cells: Int32Array;
  /** [B, M, H*W] 1 where a thing of each of the M kinds that may come and go lies */
  readonly things: Uint8Array;
  /** [B, F, H*W] 1 where a thing of each of the F kinds that stay for the whole episode lies */
  readonly fixed: Uint8Array;
  /** [B] steps done in the episode */
  readonly elapsed: Int32Array;
}

/** How a grid game's state is read as parts, and put together again. All agents see all of it. */
export interface GridParts<State extends DType = DType> {
  /** H */
  readonly rows: number;
  /** W */
  readonly columns: number;
  /** Names of the M kinds of things: `['stags', 'hares']`. */
  readonly things: readonly string[];
  /** Names of the F kinds that stay: `['obstacles']`. */
  readonly fixed: readonly string[];
  /** N names of rewarded events that an agent may cause in a step: `['stag', 'hare']`. */
  readonly events: readonly string[];
  /** Reads one state into row `row` of the arrays. */
  read(state: ArrayOf<State>, offset: number, out: GridArrays, row: number): void;
  /** Writes row `row` of the arrays as a state. The rules can go on from it for all cells of the agents. */
  write(parts: GridArrays, row: number, state: ArrayOf<State>, offset: number): void;
  /** Reads what seat `seat` saw in row `from` of the observations into row `row` of the arrays. */
  see(observations: ObservationArrays, from: number, seat: number, out: GridArrays, row: number): void;
  /**
   * The event that an agent brought about.
   *
   * @param action  its action, in 0..K-1
   * @param left    whether the rules ended it in that step
   * @returns 0..N-1, or -1 for none
   */
  eventOf(action: number, left: boolean): number;
  /**
   * What everyone is paid for a step, by the rules.
   *
   * @param before   where the agents stood before the step: row `row` of the arrays
   * @param events   [B, A] of the step, in -1..N-1
   * @param rewards  [B, A] row `row` is written
   * @param after    what came of it: row `row` of the arrays
   */
  pay(before: GridArrays, events: Int32Array, rewards: Float32Array, row: number, after: GridArrays): void;
  /**
   * Whether the rules end the episode for everyone in row `row` of the arrays. Absent where agents end only by leaving
   * the grid.
   */
  isOver?(parts: GridArrays, row: number): boolean;
}

const partsSchema = z.looseObject({
  rows: z.int().min(1),
  columns: z.int().min(1),
  things: z.array(z.string()),
  fixed: z.array(z.string()),
});

/** Zeroed parts of B states; every agent has left. */
export function allocateGrid(
  parts: Pick<GridParts, 'rows' | 'columns' | 'things' | 'fixed'>,
  agents: number,
  rows: number,
): GridArrays {
  checkArgument('allocateGrid', 'parts', partsSchema, parts);
  checkCount('allocateGrid', 'agents', agents);
  checkCount('allocateGrid', 'rows', rows);
  const cells = parts.rows * parts.columns;
  return {
    cells: new Int32Array(rows * agents).fill(cells),
    things: new Uint8Array(rows * parts.things.length * cells),
    fixed: new Uint8Array(rows * parts.fixed.length * cells),
    elapsed: new Int32Array(rows),
  };
}
