import { type Experience, fail, type Game, type ObservationArrays, type TypedArray } from '@coplay/core';
import { copyRow, sizeOf } from '@coplay/core/arrays';

/**
 * An experience in which all agents see what one of them sees, for models of co-players that read the view of their
 * observer. It doesn't know which actions are legal for its co-players: all are.
 *
 * @param seat  the observer's
 */
export function seenBy(experience: Experience, seat: number): Experience {
  const { observation, observations, masks, cuts, agents, actionCount: K } = experience;
  const A = agents.length;
  const spread = <Data extends TypedArray>(data: Data, size: number): Data => {
    const copies = data.slice() as Data;
    for (let row = 0; row < data.length / size; row++) copyRow(data, row - (row % A) + seat, copies, row, size);
    return copies;
  };
  const spreadFields = (fields: ObservationArrays): ObservationArrays => {
    const all = Object.entries(observation).map(([name, { shape }]) => [name, spread(fields[name], sizeOf(shape))]);
    return Object.fromEntries(all);
  };
  const legal = (own: Uint8Array) => own.map((flag, i) => (Math.floor(i / K) % A === seat ? flag : 1));
  return {
    ...experience,
    observations: spreadFields(observations),
    masks: legal(masks),
    cuts: { ...cuts, observations: spreadFields(cuts.observations), masks: legal(cuts.masks) },
  };
}

/**
 * Defaults of the models of co-players that read the view of their observer: a network for each co-player, since they
 * all read the same.
 */
export function ownViewMoa(game: Game): { readonly share?: boolean } {
  return game.agents.length > 2 ? { share: false } : {};
}

/** Refuses goals that are recognised from co-players' observations or from states, which their observer doesn't see. */
export function checkOwnGoals(where: string, { goals }: Game, remedy: string): void {
  const { reads = [], readsStates = false } = goals ?? {};
  if (reads.length === 0 && !readsStates) return;
  const expected = "goals that actions show, with a world model of an agent's own view";
  const got = readsStates ? 'goals read from states' : `goals read from the co-player's ${reads.join(', ')}`;
  fail(where, expected, got, remedy);
}
