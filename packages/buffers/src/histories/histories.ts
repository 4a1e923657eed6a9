import { type Experience, fail, type NamedArrays, type NDArray, show, type TypedArray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { takeRows } from '@coplay/core/rows';

/** Name under which the values of a rollout travel with its steps until their episode is whole. */
const VALUES = 'omgValues';

/** Whose eyes, and whose values, histories are recorded with. */
export interface HistoryView {
  /** The seat that infers the others' subgoals. */
  readonly observer: number;
  /** `other`: the co-player's observations; `own`: the observer's observations */
  readonly view: 'other' | 'own';
  /** Whose values select subgoals. */
  readonly valuesOf: 'observer' | 'coPlayer';
}

/** Refuses experience that a model made. */
export function checkReal(where: string, experience: Experience): void {
  if (!experience.isImagined.includes(1)) return;
  fail(where, 'real experience', 'imagined episodes', 'Push real experience; imagined co-players have no goals.');
}

/** The experience, and values as its only extras; they're NaN where their agent was absent. */
export function withValues(experience: Experience, values: Float32Array | undefined): Experience {
  const { envs, steps, agents, active } = experience;
  if (values !== undefined && values.length !== active.length) {
    const shape = [envs, steps, agents.length];
    const remedy = 'Give a value for each step of each agent.';
    fail('historyBuffer.push', `values [${shape}], ${active.length} numbers`, show(values.length), remedy);
  }
  const data = Float32Array.from(active, (isThere, row) => (isThere === 1 && values ? values[row] : Number.NaN));
  return { ...experience, extras: { [VALUES]: { data, shape: [envs, steps, agents.length] } } };
}

/** Seats of the others, in cyclic order from the observer's. */
export function coPlayerSeats(observer: number, agents: number): number[] {
  return Array.from({ length: Math.max(0, agents - 1) }, (_, i) => (observer + 1 + i) % agents);
}

/** The steps of an episode in which an agent was there: from the first on, as many. */
export function stepsThere({ active, steps, agents, lengths }: Experience, env: number, seat: number): number {
  let count = 0;
  while (count < lengths[env] && active[(env * steps + count) * agents.length + seat] === 1) count++;
  return count;
}

/** Copies an agent's first steps in an episode out of arrays [E, T, A, ...shape]. */
function stepsOf({ steps, agents }: Experience, env: number, length: number) {
  return (data: TypedArray, seat: number, shape: readonly number[] = []) => {
    const places = Int32Array.from({ length }, (_, t) => (env * steps + t) * agents.length + seat);
    return { data: takeRows(data, places, sizeOf(shape)), shape: [length, ...shape] };
  };
}

/**
 * One co-player's history in one episode, a row a step: `observations/NAME` [n, ...], `masks` [n, K] of the co-player,
 * `actions`, `left` (1 where the rules ended it), `values`, `coPlayer` (1 for the observer's next seat, ...) [n], and
 * `previousActions` [n, A] of everyone, in cyclic order from the seat whose view it is.
 *
 * @param episodes  one episode in each environment, with {@link withValues}
 */
export function historyRows(
  episodes: Experience,
  env: number,
  seat: number,
  length: number,
  { observer, view, valuesOf }: HistoryView,
): NamedArrays {
  const { agents, observation, steps } = episodes;
  const count = agents.length;
  const seer = view === 'other' ? seat : observer;
  const take = stepsOf(episodes, env, length);
  const rows: NamedArrays = {};
  for (const name in observation) {
    rows[`observations/${name}`] = take(episodes.observations[name], seer, observation[name].shape);
  }
  const previous = new Int32Array(length * count);
  for (let i = 0; i < previous.length; i++) {
    const step = env * steps + Math.floor(i / count);
    previous[i] = episodes.previousActions[step * count + ((seer + (i % count)) % count)];
  }
  return {
    ...rows,
    masks: take(episodes.masks, seat, [episodes.actionCount]),
    previousActions: { data: previous, shape: [length, count] },
    actions: take(episodes.actions, seat),
    left: take(episodes.terminated, seat),
    values: take(episodes.extras[VALUES].data, valuesOf === 'observer' ? observer : seat),
    coPlayer: { data: new Int32Array(length).fill((seat - observer + count) % count), shape: [length] },
  };
}

/**
 * One co-player's history as a store keeps it for several readers: the columns of {@link historyRows} of the view
 * `other`, but `observerValues` and `coPlayerValues` instead of `values`, and no `coPlayer`.
 *
 * @param withOwn  adds the observer's observations, `own/NAME` [n, ...]
 */
export function storedColumns(
  episodes: Experience,
  env: number,
  seat: number,
  length: number,
  observer: number,
  withOwn: boolean,
): NamedArrays {
  const { observation } = episodes;
  const view = { observer, view: 'other', valuesOf: 'coPlayer' } as const;
  const { values, coPlayer: _, ...columns } = historyRows(episodes, env, seat, length, view);
  const take = stepsOf(episodes, env, length);
  const own = Object.keys(observation).map((name) => {
    return [`own/${name}`, take(episodes.observations[name], observer, observation[name].shape)] as const;
  });
  return {
    ...columns,
    ...{ observerValues: take(episodes.extras[VALUES].data, observer), coPlayerValues: values },
    ...(withOwn && Object.fromEntries(own)),
  };
}

/** Rows of {@link storedColumns} as {@link historyRows} makes them. */
export function viewOfStored(
  stored: NamedArrays,
  seat: number,
  { observer, view, valuesOf }: HistoryView,
): NamedArrays {
  const { observerValues, coPlayerValues, ...columns } = stored;
  const count = stored['previousActions'].shape[1];
  const rows: NamedArrays = {};
  for (const name in columns) {
    if (name.startsWith('own/')) continue;
    const own = name.replace(/^observations\//, 'own/');
    rows[name] = columns[view === 'own' && own !== name ? own : name];
  }
  const offset = (seat - observer + count) % count;
  const previous = view === 'own' ? rotated(stored['previousActions'], count - offset) : stored['previousActions'];
  const length = stored['actions'].shape[0];
  return {
    ...rows,
    previousActions: previous,
    values: valuesOf === 'observer' ? observerValues : coPlayerValues,
    coPlayer: { data: new Int32Array(length).fill(offset), shape: [length] },
  };
}

/** Rows [n, A] that begin with the entry that was at place `first`, in cyclic order. */
export function rotated({ data, shape }: NDArray, first: number): NDArray {
  const [, A] = shape;
  const turned = data.map((_, i) => data[i - (i % A) + ((first + i) % A)]);
  return { data: turned, shape };
}
