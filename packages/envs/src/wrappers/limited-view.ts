import {
  type ActionSpaces,
  type AnyGame,
  checkGame,
  checkOptions,
  type DType,
  fail,
  type Game,
  type ObservationField,
  show,
  type TypedArray,
} from '@coplay/core';
import { allocateObservations, sizeOf } from '@coplay/core/arrays';
import { z } from 'zod';
import { wrap, wrapOptions } from './wrap';

/** Options of {@link limitedView}. */
export interface LimitedViewOptions {
  /**
   * The observation field that is cut: [rows, columns, C], whose plane 0 shows where the observer is. Default `planes`
   */
  readonly field?: string;
}

const schema = z.strictObject({ field: z.string().default('planes') });

/**
 * Cuts the planes that an agent sees to the cells up to `radius` away in each direction, itself in the middle:
 * [2 radius + 1, 2 radius + 1, C]. Cells outside the grid are 1 in the plane `obstacles`, or in a new last plane
 * `outside` where the game has no obstacles. An agent that is not on the map sees zeros.
 *
 * @param radius  1 to 64 cells
 * @throws CoplayError for another radius, or a game without such planes
 */
export function limitedView<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  radius: number,
  options: LimitedViewOptions = {},
): Game<State, Spaces> {
  checkGame('limitedView', game, 'any');
  const { field } = checkOptions('limitedView', schema, options);
  const planes = checkPlanes(game, radius, field);
  const window = windowOf(planes, radius);
  const { [field]: _, ...otherFields } = game.observation;
  const others = Object.entries(otherFields).map(([name, { shape }]) => ({ name, size: sizeOf(shape) }));
  const whole = allocateObservations(game.observation, 1);
  return wrap(game, {
    observation: { ...game.observation, [field]: window.field },
    options: wrapOptions(game, 'limitedView', radius),
    observe(state, offset, agent, out, row) {
      game.observe(state, offset, agent, whole, 0);
      window.cut(whole[field], out[field], row * window.size);
      for (const { name, size } of others) copy(whole[name], out[name], row * size, size);
    },
  });
}

interface Window {
  readonly field: ObservationField;
  /** Values of one observation. */
  readonly size: number;
  /** Writes the observer's surroundings to `out`, from `base` on. */
  cut(planes: TypedArray, out: TypedArray, base: number): void;
}

function windowOf({ shape, dtype, kind, channels }: ObservationField, radius: number): Window {
  const [rows, columns, C] = shape;
  const side = 2 * radius + 1;
  const obstacles = channels?.indexOf('obstacles') ?? -1;
  const outside = obstacles >= 0 ? obstacles : C;
  const width = Math.max(C, outside + 1);
  const size = side * side * width;
  const names = channels && (outside === C ? [...channels, 'outside'] : channels);

  function cut(planes: TypedArray, out: TypedArray, base: number): void {
    out.fill(0, base, base + size);
    let own = 0;
    while (own < rows * columns && planes[own * C] === 0) own++;
    if (own === rows * columns) return;
    const top = Math.floor(own / columns) - radius;
    const left = (own % columns) - radius;
    for (let i = 0; i < side * side; i++) {
      const row = top + Math.floor(i / side);
      const column = left + (i % side);
      const to = base + i * width;
      if (row < 0 || column < 0 || row >= rows || column >= columns) out[to + outside] = 1;
      else for (let c = 0; c < C; c++) out[to + c] = planes[(row * columns + column) * C + c];
    }
  }

  const field = { shape: [side, side, width], dtype, ...(kind && { kind }), ...(names && { channels: names }) };
  return { field, size, cut };
}

function checkPlanes<State extends DType>(game: AnyGame<State>, radius: number, field: string): ObservationField {
  if (!Number.isInteger(radius) || radius < 1 || radius > 64) {
    fail('limitedView', 'a radius from 1 to 64', show(radius), 'Give the number of cells seen in each direction.');
  }
  const planes = game.observation[field];
  if (planes?.shape.length === 3) return checkKind(planes, field);
  const fields = Object.entries(game.observation).map(([name, { shape }]) => `${name} [${shape.join(', ')}]`);
  const remedy =
    'Use it on a game that is seen as planes ("Kinds of observation fields" in docs/writing-an-environment.md).';
  fail('limitedView', `a game seen as ${field} [rows, columns, C]`, fields.join(', '), remedy);
}

/** Cells outside the grid are marked by a 1, which says something else in a picture and among indices. */
function checkKind(planes: ObservationField, field: string): ObservationField {
  const { kind, classes } = planes;
  if (kind !== 'image' && kind !== 'indices' && classes === undefined) return planes;
  const got = classes === undefined || kind === 'indices' ? show(kind) : `${kind} of ${classes} classes`;
  return fail(
    'limitedView',
    `${field} of the kind planes, or without classes`,
    got,
    'Use it on planes ("Kinds of observation fields" in docs/writing-an-environment.md).',
  );
}

function copy(from: TypedArray, to: TypedArray, base: number, size: number): void {
  for (let i = 0; i < size; i++) to[base + i] = from[i];
}
