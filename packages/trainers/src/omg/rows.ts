import { type NamedArrays, ndarray, type ObservationArrays } from '@coplay/core';
import { CO_PLAYER, type OmgSetup } from './setup';
import type { CoPlayerViews } from './views';

/** Rows of a history buffer as inputs of the networks, with `masks` and `actions`. */
export function encodeHistories(setup: OmgSetup, rows: NamedArrays): NamedArrays {
  const { actions, masks, coPlayer } = rows;
  const observations: ObservationArrays = {};
  for (const name in setup.game.observation) observations[name] = rows[`observations/${name}`].data;
  const views = {
    observations,
    masks: masks.data as Uint8Array,
    previousActions: rows['previousActions'].data as Int32Array,
  };
  const count = actions.shape[0];
  return { ...encodeViews(setup, views, count, (row) => coPlayer.data[row] - 1), masks, actions };
}

/**
 * Views as inputs of the networks. The previous actions begin with the seat whose view it is, so that all are encoded
 * as if of seat 0.
 *
 * @param coPlayer  which co-player a row is about, from 0 on in cyclic order from the observer's seat
 */
export function encodeViews(
  { encoder, others, settings }: OmgSetup,
  views: Omit<CoPlayerViews, 'active'>,
  rows: number,
  coPlayer: (row: number) => number,
): NamedArrays {
  const extras: NamedArrays = {};
  if (settings.coPlayerId) {
    const codes = new Float32Array(rows * others.length);
    for (let row = 0; row < rows; row++) codes[row * others.length + coPlayer(row)] = 1;
    extras[CO_PLAYER] = ndarray(codes, [rows, others.length]);
  }
  return encoder.encode({ ...views, rows, seat: 0, offset: 0, stride: 1, extras });
}
