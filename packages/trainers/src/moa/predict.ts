import { ndarray } from '@coplay/core';
import { gatherRows, paddedCount } from '@coplay/core/rows';
import type { MoaNet } from '@coplay/models';
import type { Compiled } from '@coplay/tensor';
import { packEpisodes } from './batches';
import type { MoaPredictInputs } from './step';
import type { MoaTable } from './table';

/** Rows of one call at most, about. */
const CHUNK = 4096;

/**
 * Predictions of all rows in use, in their order.
 *
 * @param longest  steps of the longest episode that can be
 * @returns [N, K] log-probabilities
 */
export async function predictTable(
  predict: Compiled<MoaPredictInputs>,
  net: MoaNet,
  { table, list }: MoaTable,
  longest: number,
): Promise<Float32Array> {
  const window = net.stateSize > 0 ? longest : 1;
  const everyEpisode = list.lengths.map((_, i) => i);
  const windows =
    net.stateSize > 0 ? packEpisodes(list.lengths, everyEpisode, window) : Array.from(list.places, (_, row) => [row]);
  const perChunk = Math.max(1, Math.floor(CHUNK / window));
  const all = new Float32Array(list.places.length * net.actions);
  for (let first = 0; first < windows.length; first += perChunk) {
    const chunk = windows.slice(first, first + perChunk);
    const count = paddedCount(chunk.length);
    const places = new Int32Array(count * window).fill(list.places[0]);
    const goals = new Int32Array(count * window).fill(-1);
    chunk.forEach((rows, unit) => {
      rows.forEach((row, i) => {
        places[unit * window + i] = list.places[row];
        goals[unit * window + i] = list.goals[row];
      });
    });
    const shape = net.stateSize > 0 ? [count, window] : [count];
    const order = ndarray(
      Int32Array.from(places, (_, i) => i),
      shape,
    );
    const each = { places: order, ...(net.goals > 0 && { goals: ndarray(goals, shape) }) };
    const { logProbs } = await predict({ each, table: gatherRows(table, places) });
    chunk.forEach((rows, unit) => {
      rows.forEach((row, i) => {
        const from = (unit * window + i) * net.actions;
        all.set((logProbs.data as Float32Array).subarray(from, from + net.actions), row * net.actions);
      });
    });
  }
  return all;
}
