import { prefixed } from '@coplay/models/layers';
import type { CoPlayerRows, FocalAnswer, LeafRows, SearchNetworks } from '@coplay/planning';
import { coPlayerQuery, stateViewer } from '../training/search-queries';
import type { HopLearner } from './learner';

/** The networks of one agent, as its search and its beliefs call them: states in, numbers out. */
export interface NetworkQueries extends Required<SearchNetworks> {
  /** @returns [n, K] log-probabilities */
  coPlayers(rows: CoPlayerRows): Promise<Float32Array>;
}

/**
 * Queries of the learner's network, and of the models that the agent in `seat` has of its co-players, with the present
 * parameters.
 */
export function networkQueries(learner: HopLearner, seat: number): NetworkQueries {
  const { searched: game, encoder, isShared } = learner.setup;
  const view = stateViewer(game);
  const focal = async (rows: LeafRows): Promise<FocalAnswer> => {
    const encoded = encoder.encode({ ...view(rows), seat, offset: 0, stride: 1, extras: {} });
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
