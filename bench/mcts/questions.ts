import { type Game, ndarray } from '@coplay/core';
import { allocateRows, type LeafRows, observeRows, type RowObservations, type SearchNetworks } from '@coplay/planning';
import { type BenchNetworks, inputsOf } from './networks';
import type { Stopwatch } from './stopwatch';

/**
 * Numbers of rows that a graph is made for where equal states are shared: quarters of the most. Else it's the most,
 * always.
 */
const SIZES = 4;

/**
 * The networks as a search asks them, with the time that they take.
 *
 * @param trees  rows of the first at most; the second has so many for each co-player
 * @param share  whether fewer rows come now and then
 */
export function questions(
  game: Game,
  networks: BenchNetworks,
  trees: number,
  share: boolean,
  watch: Stopwatch,
): Required<SearchNetworks> {
  const look = observer(game, share ? SIZES : 1, watch);
  return {
    async focal(rows) {
      const { padded, inputs } = look(rows, trees);
      const { logits, values } = await watch.network(() => networks.focal(inputs));
      watch.rows += padded;
      return { logits: logits.data as Float32Array, values: values.data as Float32Array };
    },
    async coPlayers(rows) {
      const { padded, inputs, masks } = look(rows, trees * (game.agents.length - 1));
      const goals = new Int32Array(padded);
      goals.set(rows.goals);
      const mask = ndarray(masks, [padded, game.actions]);
      const { logits } = await watch.network(() => networks.coPlayers({ ...inputs, goals: ndarray(goals), mask }));
      watch.rows += padded;
      return logits.data as Float32Array;
    },
  };
}

/** Writes the observations of rows into arrays of a few sizes, which all observers share. */
function observer(game: Game, sizes: number, watch: Stopwatch) {
  const kept = new Map<string, RowObservations>();
  return (rows: LeafRows, most: number) => {
    const unit = Math.ceil(most / sizes);
    const padded = unit * Math.ceil(rows.rows / unit);
    const key = `${most}/${padded}`;
    const into = kept.get(key) ?? allocateRows(game, padded);
    kept.set(key, into);
    const start = performance.now();
    const { observations, masks } = observeRows(game, rows, into);
    watch.add('observe', start);
    return { padded, masks, inputs: inputsOf(game, observations, padded) };
  };
}
