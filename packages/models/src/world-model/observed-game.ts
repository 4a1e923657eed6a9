import {
  type ArrayOf,
  allocate,
  type DType,
  fail,
  type Game,
  type NamedArrays,
  ndarray,
  type ObservationArrays,
} from '@coplay/core';
import { allocateObservations, sizeOf } from '@coplay/core/arrays';

/** One field of the joint observation in a state. */
export interface ObservedField {
  readonly name: string;
  /** Numbers of one agent. */
  readonly size: number;
  /** The first one's place in a state. */
  readonly at: number;
}

/**
 * A game whose states are what all agents observe, so that a model of observations can play it. A state is float32:
 *
 *   elapsed | active [A] | masks [A, K] | fields, each [A, size] | L past steps, the oldest first
 *
 * A past step is its fields and the actions [A] that followed; they are -1 where the episode, or the experience, hadn't
 * begun.
 */
export interface ObservedGame extends Game<'float32'> {
  /** The game that is observed. */
  readonly source: Game;
  /** L */
  readonly history: number;
  readonly fields: readonly ObservedField[];
  /** The first past step's place in a state, and the numbers of each. */
  readonly past: { readonly at: number; readonly size: number };
}

/** Of a state, where the agents that play are marked. */
const ACTIVE = 1;

/** The game of what the agents of `source` observe. The rules can't play it, only a model can. */
export function observedGame(source: Game, history: number): ObservedGame {
  const A = source.agents.length;
  const K = source.actions;
  const masksAt = ACTIVE + A;
  const fields: ObservedField[] = [];
  let end = masksAt + A * K;
  for (const [name, { shape }] of Object.entries(source.observation)) {
    const size = sizeOf(shape);
    fields.push({ name, size, at: end });
    end += A * size;
  }
  const past = { at: end, size: end - (masksAt + A * K) + A };
  const real = allocate(source.stateType, source.stateSize);
  const view = allocateObservations(source.observation, 1);
  const mask = new Uint8Array(K);
  const { goals } = source;
  return {
    ...{ source, history, fields, past },
    name: `observations of ${source.name}`,
    agents: source.agents,
    actions: K,
    actionNames: source.actionNames,
    observation: source.observation,
    stateType: 'float32',
    stateSize: end + history * past.size,
    maxSteps: source.maxSteps,
    infos: [],
    options: { observed: source.options, history },
    // Whether a goal is open is a question to the state, which isn't known.
    ...(goals && { goals: { ...goals, reached: goals.reached.bind(goals), isOpen: () => true } }),

    reset(state, offset, generator) {
      source.reset(real, 0, generator);
      state[offset] = source.elapsed(real, 0);
      for (let agent = 0; agent < A; agent++) {
        state[offset + ACTIVE + agent] = source.isActive(real, 0, agent) ? 1 : 0;
        source.legal(real, 0, agent, mask, 0);
        state.set(mask, offset + masksAt + agent * K);
        source.observe(real, 0, agent, view, 0);
        for (const { name, size, at } of fields) state.set(view[name], offset + at + agent * size);
      }
      forget(state, offset, past, history, A);
    },
    step() {
      const remedy = 'Play it in the simulator of a model of observations; the rules play the game itself.';
      fail('step', 'a game of states', `the ${this.name}`, remedy);
    },
    legal(state, offset, agent, into, maskOffset) {
      for (let k = 0; k < K; k++) into[maskOffset + k] = state[offset + masksAt + agent * K + k];
    },
    observe(state, offset, agent, out, row) {
      for (const { name, size, at } of fields)
        copyNumbers(state, offset + at + agent * size, out[name], row * size, size);
    },
    isActive: (state, offset, agent) => state[offset + ACTIVE + agent] === 1,
    elapsed: (state, offset) => state[offset],
  };
}

/** No step was played before. */
function forget(state: Float32Array, offset: number, past: ObservedGame['past'], history: number, A: number): void {
  state.fill(0, offset + past.at, offset + past.at + history * past.size);
  for (let l = 1; l <= history; l++) {
    const end = offset + past.at + l * past.size;
    state.fill(-1, end - A, end);
  }
}

/** States as rows for a model's `imagine`; see `WorldModel` for the columns. */
export function rowsOfStates(game: ObservedGame, states: ArrayOf<DType>, actions: Int32Array): NamedArrays {
  const { fields, past, history: L, stateSize: S, actions: K, observation } = game;
  const A = game.agents.length;
  const B = states.length / S;
  const active = new Uint8Array(B * A);
  const masks = new Uint8Array(B * A * K);
  const views = allocateObservations(observation, B * A);
  const pastViews = allocateObservations(observation, B * L * A);
  const pastActions = new Int32Array(B * L * A);
  for (let b = 0; b < B; b++) {
    const start = b * S;
    copyNumbers(states, start + ACTIVE, active, b * A, A);
    copyNumbers(states, start + ACTIVE + A, masks, b * A * K, A * K);
    for (const { name, size, at } of fields) copyNumbers(states, start + at, views[name], b * A * size, A * size);
    for (let l = 0; l < L; l++) {
      let at = start + past.at + l * past.size;
      for (const { name, size } of fields) {
        copyNumbers(states, at, pastViews[name], (b * L + l) * A * size, A * size);
        at += A * size;
      }
      copyNumbers(states, at, pastActions, (b * L + l) * A, A);
    }
  }
  return {
    ...columnsOf(game, views, [B, A], ''),
    active: ndarray(active, [B, A]),
    masks: ndarray(masks, [B, A, K]),
    actions: ndarray(
      actions.map((action, i) => (active[i] === 1 ? action : -1)),
      [B, A],
    ),
    ...(L > 0 && {
      ...columnsOf(game, pastViews, [B, L, A], 'past/'),
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
  const { fields, past, history: L, stateSize: S, actions: K } = game;
  const A = game.agents.length;
  const B = rows['active'].shape[0];
  const states = new Float32Array(B * S);
  for (let b = 0; b < B; b++) {
    const start = b * S;
    states[start] = rows['elapsed'].data[b];
    copyNumbers(rows['active'].data, b * A, states, start + ACTIVE, A);
    copyNumbers(rows['masks'].data, b * A * K, states, start + ACTIVE + A, A * K);
    for (const { name, size, at } of fields) copyNumbers(rows[name].data, b * A * size, states, start + at, A * size);
    for (let l = 0; l < L; l++) {
      let at = start + past.at + l * past.size;
      for (const { name, size } of fields) {
        copyNumbers(rows[`past/${name}`].data, (b * L + l) * A * size, states, at, A * size);
        at += A * size;
      }
      copyNumbers(rows['past/actions'].data, (b * L + l) * A, states, at, A);
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
  const { fields, past, history: L, actions: K } = game;
  const A = game.agents.length;
  states[offset]++;
  if (L > 0) {
    const begin = offset + past.at;
    const end = begin + L * past.size;
    states.copyWithin(begin, begin + past.size, end);
    const [first] = fields;
    states.copyWithin(end - past.size, offset + first.at, offset + past.at); // the fields lie end to end
    copyNumbers(happened['actions'].data, row * A, states, end - A, A);
  }
  for (let agent = 0; agent < A; agent++) {
    states[offset + ACTIVE + agent] = happened['terminated'].data[row * A + agent] === 1 ? 0 : 1;
  }
  copyNumbers(happened['next/masks'].data, row * A * K, states, offset + ACTIVE + A, A * K);
  for (const { name, size, at } of fields) {
    copyNumbers(happened[`next/${name}`].data, row * A * size, states, offset + at, A * size);
  }
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
