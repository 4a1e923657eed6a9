import {
  type AgentInput,
  type ArrayOf,
  allocate,
  type DType,
  fail,
  type Game,
  type NamedArrays,
  ndarray,
  type ObservationArrays,
} from '@coplay/core';
import { allocateObservations, dtypeOf, sizeOf } from '@coplay/core/arrays';
import { checkCount, checkNumber, checkRecord, checkTypedArray } from '@coplay/core/checks';

/** Whose observations a model predicts together: those of all agents, or those of one agent. */
export type ObservedView = 'joint' | 'own';

/** One field of the observations in a state. */
export interface ObservedField {
  readonly name: string;
  /** Numbers of one viewer. */
  readonly size: number;
  /** The first one's place in a state. */
  readonly at: number;
}

/**
 * A game whose states are observations, so that a model of them can play it. V viewers: all agents, or the one agent
 * whose own view it is. A state is float32:
 *
 *   elapsed | active [A] | own view: the viewer's seat | masks [V, K] | fields, each [V, size] | L past steps, the
 *   oldest first
 *
 * A past step is its fields and the actions [A] that followed; they are -1 where the episode, or the experience, hadn't
 * begun.
 *
 * Of an own view, `observe` gives the viewer's observation for every agent, since no other is known, and all actions of
 * co-players are legal. In rows of own views, agents are in the order of play from the viewer on (seat, seat + 1, ...),
 * so that one model serves all seats.
 */
export interface ObservedGame extends Game<'float32'> {
  /** The game that is observed. */
  readonly source: Game;
  readonly view: ObservedView;
  /** V */
  readonly viewers: number;
  /** L */
  readonly history: number;
  /** The first mask's place in a state. */
  readonly masksAt: number;
  readonly fields: readonly ObservedField[];
  /** The first past step's place in a state, and the numbers of each. */
  readonly past: { readonly at: number; readonly size: number };
  /** Writes what is seen in a state of `source`, by all agents or by seat `seat`. It leaves the past steps alone. */
  look(real: ArrayOf<DType>, realOffset: number, seat: number, state: ArrayOf<DType>, offset: number): void;
}

/** Of a state, where the agents that play are marked. */
const ACTIVE = 1;

/** The game of what the agents of `source` observe. The rules can't play it, only a model can. */
export function observedGame(source: Game, view: ObservedView, history: number): ObservedGame {
  const A = source.agents.length;
  const K = source.actions;
  const viewers = view === 'joint' ? A : 1;
  const masksAt = ACTIVE + A + (view === 'own' ? 1 : 0);
  const fields: ObservedField[] = [];
  let end = masksAt + viewers * K;
  for (const [name, { shape }] of Object.entries(source.observation)) {
    const size = sizeOf(shape);
    fields.push({ name, size, at: end });
    end += viewers * size;
  }
  const past = { at: end, size: end - (masksAt + viewers * K) + A };
  const real = allocate(source.stateType, source.stateSize);
  const seen = allocateObservations(source.observation, 1);
  const mask = new Uint8Array(K);
  const { goals } = source;
  const game: ObservedGame = {
    ...{ source, view, viewers, history, masksAt, fields, past },
    name: `observations of ${source.name}`,
    agents: source.agents,
    actions: K,
    actionNames: source.actionNames,
    observation: source.observation,
    stateType: 'float32',
    stateSize: end + history * past.size,
    maxSteps: source.maxSteps,
    infos: [],
    options: { observed: source.options, history, ...(view === 'own' && { view }) },
    // Whether a goal is open is a question to the state, which isn't known.
    ...(goals && { goals: { ...goals, reached: goals.reached.bind(goals), isOpen: () => true } }),

    look(state, offset, seat, into, at) {
      into[at] = source.elapsed(state, offset);
      for (let agent = 0; agent < A; agent++) {
        into[at + ACTIVE + agent] = source.isActive(state, offset, agent) ? 1 : 0;
      }
      if (view === 'own') into[at + masksAt - 1] = seat;
      for (let viewer = 0; viewer < viewers; viewer++) {
        const agent = view === 'own' ? seat : viewer;
        source.legal(state, offset, agent, mask, 0);
        copyNumbers(mask, 0, into, at + masksAt + viewer * K, K);
        source.observe(state, offset, agent, seen, 0);
        for (const field of fields) {
          copyNumbers(seen[field.name], 0, into, at + field.at + viewer * field.size, field.size);
        }
      }
    },
    /** An own view is that of the first seat. */
    reset(state, offset, generator) {
      source.reset(real, 0, generator);
      game.look(real, 0, 0, state, offset);
      forget(game, state, offset);
    },
    step() {
      const remedy = 'Play it in the simulator of a model of observations; the rules play the game itself.';
      fail('step', 'a game of states', `the ${this.name}`, remedy);
    },
    legal(state, offset, agent, into, maskOffset) {
      const isKnown = view === 'joint' || agent === state[offset + masksAt - 1];
      const at = offset + masksAt + (view === 'joint' ? agent * K : 0);
      for (let k = 0; k < K; k++) into[maskOffset + k] = isKnown ? state[at + k] : 1;
    },
    observe(state, offset, agent, out, row) {
      const viewer = view === 'joint' ? agent : 0;
      for (const { name, size, at } of fields) {
        copyNumbers(state, offset + at + viewer * size, out[name], row * size, size);
      }
    },
    isActive: (state, offset, agent) => state[offset + ACTIVE + agent] === 1,
    elapsed: (state, offset) => state[offset],
  };
  return game;
}

/** The seat whose own view a state is; 0 for joint observations, whose agents are in the order of the seats. */
export function seatOf({ view, masksAt }: ObservedGame, states: ArrayLike<number>, offset: number): number {
  return view === 'own' ? states[offset + masksAt - 1] : 0;
}

/** No step was played before. */
function forget({ past, history, agents }: ObservedGame, state: Float32Array, offset: number): void {
  state.fill(0, offset + past.at, offset + past.at + history * past.size);
  for (let l = 1; l <= history; l++) {
    const end = offset + past.at + l * past.size;
    state.fill(-1, end - agents.length, end);
  }
}

/** Moves the observations of a state into its past, as the newest step; `actions` [A] from `from` on followed. */
function remember(game: ObservedGame, state: ArrayOf<DType>, offset: number, actions: ArrayLike<number>, from: number) {
  const { past, history: L, fields, agents } = game;
  if (L === 0) return;
  const begin = offset + past.at;
  const end = begin + L * past.size;
  state.copyWithin(begin, begin + past.size, end);
  const [first] = fields;
  state.copyWithin(end - past.size, offset + first.at, offset + past.at); // the fields lie end to end
  copyNumbers(actions, from, state, end - agents.length, agents.length);
}

/** States as rows for a model's `imagine`; see `WorldModel` for the columns. */
export function rowsOfStates(game: ObservedGame, states: ArrayOf<DType>, actions: Int32Array): NamedArrays {
  const { fields, past, history: L, stateSize: S, actions: K, observation, viewers: V, view, masksAt } = game;
  const A = game.agents.length;
  const B = states.length / S;
  const active = new Uint8Array(B * A);
  const masks = new Uint8Array(B * V * K);
  const seats = new Int32Array(B);
  const played = new Int32Array(B * A);
  const views = allocateObservations(observation, B * V);
  const pastViews = allocateObservations(observation, B * L * V);
  const pastActions = new Int32Array(B * L * A);
  for (let b = 0; b < B; b++) {
    const start = b * S;
    seats[b] = seatOf(game, states, start);
    copyFrom(seats[b], A, states, start + ACTIVE, active, b * A);
    copyFrom(seats[b], A, actions, b * A, played, b * A);
    copyNumbers(states, start + masksAt, masks, b * V * K, V * K);
    for (const { name, size, at } of fields) copyNumbers(states, start + at, views[name], b * V * size, V * size);
    for (let l = 0; l < L; l++) {
      let at = start + past.at + l * past.size;
      for (const { name, size } of fields) {
        copyNumbers(states, at, pastViews[name], (b * L + l) * V * size, V * size);
        at += V * size;
      }
      copyFrom(seats[b], A, states, at, pastActions, (b * L + l) * A);
    }
  }
  return {
    ...columnsOf(game, views, [B, V], ''),
    active: ndarray(active, [B, A]),
    masks: ndarray(masks, [B, V, K]),
    actions: ndarray(
      played.map((action, i) => (active[i] === 1 ? action : -1)),
      [B, A],
    ),
    ...(view === 'own' && { seat: ndarray(seats) }),
    ...(L > 0 && {
      ...columnsOf(game, pastViews, [B, L, V], 'past/'),
      'past/actions': ndarray(pastActions, [B, L, A]),
    }),
  };
}

function columnsOf(game: Game, arrays: ObservationArrays, lead: readonly number[], prefix: string): NamedArrays {
  const columns = Object.entries(game.observation).map(([name, { shape }]) => {
    return [`${prefix}${name}`, { data: arrays[name], shape: [...lead, ...shape] }] as const;
  });
  return Object.fromEntries(columns);
}

/** Rows before a step as states: the inverse of {@link rowsOfStates}. `elapsed` int32 [B] is the steps played. */
export function statesOfRows(game: ObservedGame, rows: NamedArrays): Float32Array {
  const { fields, past, history: L, stateSize: S, actions: K, viewers: V, view, masksAt } = game;
  const A = game.agents.length;
  const B = rows['active'].shape[0];
  const states = new Float32Array(B * S);
  for (let b = 0; b < B; b++) {
    const start = b * S;
    const seat = view === 'own' ? rows['seat'].data[b] : 0;
    states[start] = rows['elapsed'].data[b];
    copyTo(seat, A, rows['active'].data, b * A, states, start + ACTIVE);
    if (view === 'own') states[start + masksAt - 1] = seat;
    copyNumbers(rows['masks'].data, b * V * K, states, start + masksAt, V * K);
    for (const { name, size, at } of fields) copyNumbers(rows[name].data, b * V * size, states, start + at, V * size);
    for (let l = 0; l < L; l++) {
      let at = start + past.at + l * past.size;
      for (const { name, size } of fields) {
        copyNumbers(rows[`past/${name}`].data, (b * L + l) * V * size, states, at, V * size);
        at += V * size;
      }
      copyTo(seat, A, rows['past/actions'].data, (b * L + l) * A, states, at);
    }
  }
  return states;
}

/** Writes row `row` of what happened over the state that it happened in; the step becomes the newest past one. */
export function writeObserved(
  game: ObservedGame,
  happened: NamedArrays,
  row: number,
  states: ArrayOf<DType>,
  offset: number,
): void {
  const { fields, history: L, actions: K, viewers: V, masksAt } = game;
  const A = game.agents.length;
  const seat = seatOf(game, states, offset);
  states[offset]++;
  if (L > 0) {
    const actions = new Int32Array(A);
    copyTo(seat, A, happened['actions'].data, row * A, actions, 0);
    remember(game, states, offset, actions, 0);
  }
  for (let i = 0; i < A; i++) {
    states[offset + ACTIVE + ((seat + i) % A)] = happened['terminated'].data[row * A + i] === 1 ? 0 : 1;
  }
  copyNumbers(happened['next/masks'].data, row * V * K, states, offset + masksAt, V * K);
  for (const { name, size, at } of fields) {
    copyNumbers(happened[`next/${name}`].data, row * V * size, states, offset + at, V * size);
  }
}

/** What an agent sees when it acts in B games; see `WorldModel.see`. */
export interface SeenStep extends Pick<AgentInput, 'rows' | 'observations' | 'masks' | 'isFirst' | 'previousActions'> {
  /** [B, A] 1 for agents that still play: all agents see who leaves */
  readonly active: Uint8Array;
  /** [B, S'] states of the game itself, for joint observations: only where the agent sees all of the state */
  readonly states?: ArrayOf<DType>;
}

/** [B, S] the states in which the agent in seat `seat` acts; see `WorldModel.see`. */
export function seeStates(game: ObservedGame, seat: number, seen: SeenStep, before: ArrayOf<DType>): Float32Array {
  const { source, view, stateSize: S, actions: K, masksAt, fields } = game;
  const A = game.agents.length;
  checkSeen(game, seat, seen, before);
  const states = Float32Array.from(before);
  for (let b = 0; b < seen.rows; b++) {
    const offset = b * S;
    if (seen.isFirst[b] === 1) forget(game, states, offset);
    else remember(game, states, offset, seen.previousActions, b * A);
    if (view === 'joint') {
      game.look(seen.states!, b * source.stateSize, 0, states, offset);
      continue;
    }
    states[offset] = seen.isFirst[b] === 1 ? 0 : states[offset] + 1;
    states.set(seen.active.subarray(b * A, (b + 1) * A), offset + ACTIVE);
    states[offset + masksAt - 1] = seat;
    states.set(seen.masks.subarray(b * K, (b + 1) * K), offset + masksAt);
    for (const { name, size, at } of fields) {
      copyNumbers(seen.observations[name], b * size, states, offset + at, size);
    }
  }
  return states;
}

/** Refuses arguments of another form than {@link seeStates} reads. */
function checkSeen(game: ObservedGame, seat: number, seen: SeenStep, before: ArrayOf<DType>): void {
  const where = 'worldModel.see';
  const { source, view, stateSize, actions, observation } = game;
  const A = game.agents.length;
  checkNumber(where, 'seat', seat, { min: 0, max: A - 1, whole: true });
  checkRecord(where, 'seen', seen);
  const { rows } = seen;
  checkCount(where, 'seen.rows', rows);
  checkTypedArray(where, 'before', before, 'float32', rows * stateSize);
  checkTypedArray(where, 'seen.isFirst', seen.isFirst, 'uint8', rows);
  checkTypedArray(where, 'seen.previousActions', seen.previousActions, 'int32', rows * A);
  if (view === 'joint') {
    checkTypedArray(where, 'seen.states', seen.states, source.stateType, rows * source.stateSize);
    return;
  }
  checkTypedArray(where, 'seen.active', seen.active, 'uint8', rows * A);
  checkTypedArray(where, 'seen.masks', seen.masks, 'uint8', rows * actions);
  checkRecord(where, 'seen.observations', seen.observations);
  for (const [name, { dtype, shape }] of Object.entries(observation)) {
    checkTypedArray(where, `seen.observations.${name}`, seen.observations[name], dtype, rows * sizeOf(shape));
  }
}

/** Columns of all agents, which all of them know; the others of a row are a viewer's own. */
const PUBLIC = ['active', 'actions', 'past/actions', 'next/terminated'];

/**
 * Rows of all agents as rows of own views: `seat` int32 [N], columns that all agents know from that seat on, and the
 * seat's own part of all others.
 *
 * @param rows  as `observationTransitions` and `observationRows` of `@coplay/buffers` make them
 * @param seat  whose view each row becomes, [B]. Default: a row for each agent that plays in it
 */
export function ownRows(agents: number, rows: NamedArrays, seat?: number): NamedArrays {
  const A = agents;
  const places: number[] = []; // b A + seat
  rows['active'].data.forEach((plays, i) => {
    if (seat === undefined ? plays === 1 : i % A === seat) places.push(i);
  });
  const columns = Object.entries(rows).map(([name, { data, shape }]) => {
    if (name === 'elapsed') return [name, ndarray(Int32Array.from(places, (i) => data[Math.floor(i / A)]))] as const;
    const isPast = name.startsWith('past/');
    const L = isPast ? shape[1] : 1;
    const isPublic = PUBLIC.includes(name);
    const width = sizeOf(shape.slice(isPast ? 3 : 2));
    const count = isPublic ? A : 1;
    const taken = allocate(dtypeOf(data), places.length * L * count * width);
    places.forEach((place, row) => {
      const [b, own] = [Math.floor(place / A), place % A];
      for (let l = 0; l < L; l++) {
        for (let i = 0; i < count; i++) {
          const from = ((b * L + l) * A + ((own + i) % A)) * width;
          copyNumbers(data, from, taken, ((row * L + l) * count + i) * width, width);
        }
      }
    });
    const lead = isPast ? [places.length, L] : [places.length];
    return [name, { data: taken, shape: [...lead, count, ...shape.slice(lead.length + 1)] }] as const;
  });
  return { ...Object.fromEntries(columns), seat: ndarray(Int32Array.from(places, (i) => i % A)) };
}

/** Copies [A] numbers in the order of the seats into the order of play from `seat` on. */
function copyFrom(
  seat: number,
  A: number,
  from: ArrayLike<number>,
  start: number,
  to: { [index: number]: number },
  at: number,
): void {
  for (let i = 0; i < A; i++) to[at + i] = from[start + ((seat + i) % A)];
}

/** The inverse of {@link copyFrom}. */
function copyTo(
  seat: number,
  A: number,
  from: ArrayLike<number>,
  start: number,
  to: { [index: number]: number },
  at: number,
): void {
  for (let i = 0; i < A; i++) to[at + ((seat + i) % A)] = from[start + i];
}

function copyNumbers(
  from: ArrayLike<number>,
  start: number,
  to: { [index: number]: number },
  at: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) to[at + i] = from[start + i];
}
