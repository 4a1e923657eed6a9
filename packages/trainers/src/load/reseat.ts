import type { AgentId, Saved, SavedState } from '@coplay/core';
import { isPlainRecord } from '@coplay/core/checks';

/**
 * Parts of a learner's state that belong to the seat and the environments where it was saved: experience, statistics of
 * co-players, states of recurrent networks. They begin anew in another seat.
 */
const OF_SEAT: ReadonlySet<string> = new Set([
  ...['buffer', 'collector', 'replay', 'standings', 'criticStates', 'last'],
  ...['streams', 'due', 'hasBegun'],
]);

/** Parts that are the same for every seat. */
const OF_GAME: ReadonlySet<string> = new Set(['worldModel', 'ranks']);

/**
 * The state of a learner for another seat: parameters, optimisers, normalisers and counters of `saved`, under the names
 * that `fresh` has for co-players.
 *
 * @param fresh   the state of the new learner, as it begins
 * @param nameOf  the name in `saved` of a name in `fresh`: agents' ids move, other names stay
 */
export function reseatState(saved: SavedState, fresh: SavedState, nameOf: (name: string) => string): SavedState {
  const entries = Object.entries(fresh).map(([name, begun]): [string, Saved] => {
    const kept = saved[nameOf(name)];
    if (OF_SEAT.has(name) || kept === undefined) return [name, begun];
    if (OF_GAME.has(name) || !isPlainRecord(kept) || !isPlainRecord(begun)) return [name, kept];
    return [name, reseatState(kept as SavedState, begun as SavedState, nameOf)];
  });
  return Object.fromEntries(entries);
}

/**
 * Which agent of `from`'s company sits where an agent sits now that `to` is its seat. Networks read co-players in the
 * order of play from their own seat on, so all agents move on by the same number of seats.
 */
export function companyOf(agents: readonly AgentId[], from: AgentId, to: AgentId): (name: string) => string {
  const shift = agents.indexOf(from) - agents.indexOf(to) + agents.length;
  return (name) => {
    const seat = agents.indexOf(name);
    return seat < 0 ? name : agents[(seat + shift) % agents.length];
  };
}
