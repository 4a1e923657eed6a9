import { type NDArray, ndarray } from '@coplay/core';
import { takeRows } from '@coplay/core/rows';
import { prefixed } from '@coplay/models/layers';
import type { CoPlayerRows, FocalAnswer, LeafRows } from '@coplay/planning';
import { coPlayerQuery, stateViewer } from '../training/search-queries';
import { BELIEFS, beliefSize } from './data';
import type { HopLearner } from './learner';

/** The networks of one agent, as its search and its beliefs call them: states in, numbers out. */
export interface NetworkQueries {
  /** @param beliefs  [R, (A - 1) G] at the roots, where the network reads them: a search holds them fixed */
  focal(rows: LeafRows, beliefs?: Float32Array): Promise<FocalAnswer>;
  /** @returns [n, K] log-probabilities */
  coPlayers(rows: CoPlayerRows): Promise<Float32Array>;
}

/**
 * Queries of the learner's network, and of the models that the agent in `seat` has of its co-players, with the present
 * parameters.
 */
export function networkQueries(learner: HopLearner, seat: number): NetworkQueries {
  const { searched: game, encoder, isShared } = learner.setup;
  const size = beliefSize(learner.setup.game);
  const view = stateViewer(game);
  const focal = async (rows: LeafRows, beliefs?: Float32Array): Promise<FocalAnswer> => {
    const views = view(rows);
    const extras = beliefs ? { [BELIEFS]: beliefsOfRoots(rows, beliefs, size, views.rows) } : {};
    const encoded = encoder.encode({ ...views, seat, offset: 0, stride: 1, extras });
    const { logits, values } = await learner.network.functions.act(prefixed('in', encoded));
    return { logits: logits.data as Float32Array, values: values.data as Float32Array };
  };
  const coPlayers = coPlayerQuery(
    game,
    (other, views, goals) => learner.coPlayerModelsOf(seat).predict(game.agents[other], views, goals),
    isShared ? (seat + 1) % game.agents.length : undefined,
  );
  return { focal, coPlayers };
}

/** [count, size] the beliefs at each row's root; zeros in rows that only fill up. */
function beliefsOfRoots(rows: LeafRows, beliefs: Float32Array, size: number, count: number): NDArray {
  const own = new Float32Array(count * size);
  own.set(takeRows(beliefs, rows.roots!.subarray(0, rows.rows), size));
  return ndarray(own, [count, size]);
}
