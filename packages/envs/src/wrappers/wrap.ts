import {
  type ActionArray,
  type ActionSpaces,
  type AnyGame,
  type ArrayOf,
  allocate,
  type DType,
  fail,
  type Game,
  type GoalSet,
} from '@coplay/core';
import { actionLayout, choicesOf, isBox, widthOf } from '@coplay/core/arrays';

/** The options in which wrappers say that they are there. */
const WRAPPERS = [
  'clipActions',
  'flattenObservations',
  'frameStack',
  'limitedView',
  'noOpAfterEnd',
  'optimisticPartners',
  'permuteSeats',
  'rescaleActions',
  'scaleRewards',
  'stickyActions',
  'timeLimit',
  'withAgentId',
  'withPreviousActions',
] as const;

/**
 * The game's options and that of a wrapper around it; of several the order, from the innermost, for it makes another
 * game.
 */
export function wrapOptions<State extends DType>(
  game: AnyGame<State>,
  wrapper: (typeof WRAPPERS)[number],
  value: unknown,
): Game['options'] {
  const { wrappers = WRAPPERS.filter((name) => name in game.options) } = game.options;
  const order = [...(wrappers as readonly string[]), wrapper];
  return { ...game.options, [wrapper]: value, ...(order.length > 1 && { wrappers: order }) };
}

/** Takes apart what {@link wrapOptions} put together: the game's own options, and wrappers from the innermost. */
export function wrappersOf(options: Game['options']): {
  readonly own: Game['options'];
  readonly wrappers: readonly (readonly [name: string, value: unknown])[];
} {
  const { wrappers = WRAPPERS.filter((name) => name in options), ...all } = options;
  const order = wrappers as readonly string[];
  const own = Object.fromEntries(Object.entries(all).filter(([name]) => !order.includes(name)));
  return { own, wrappers: order.map((name) => [name, options[name]] as const) };
}

/**
 * The game with some parts replaced. The others stay bound to the game itself, so that a game may be an instance of a
 * class as well as a record. `grid` and `observesState` are left out (see {@link seenParts}): most wrappers change the
 * observations or the content of a state. So are `goals` that read a field of the observation that is changed. Goals
 * that read states receive the game's own state: wrappers may append numbers to it.
 */
export function wrap<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  changes: Partial<Game<State, Spaces>>,
): Game<State, Spaces> {
  const { readLayout, writeLayout, scene, observation } = game;
  const goals = goalsWithin(game, changes.stateSize);
  const changed = (field: string) => changes.observation && changes.observation[field] !== observation[field];
  return {
    name: game.name,
    agents: game.agents,
    actions: game.actions,
    actionNames: game.actionNames,
    observation: game.observation,
    stateType: game.stateType,
    stateSize: game.stateSize,
    maxSteps: game.maxSteps,
    infos: game.infos,
    options: game.options,
    reset: game.reset.bind(game),
    step: game.step.bind(game),
    legal: game.legal.bind(game),
    observe: game.observe.bind(game),
    isActive: game.isActive.bind(game),
    elapsed: game.elapsed.bind(game),
    ...(readLayout && { readLayout: readLayout.bind(game) }),
    ...(writeLayout && { writeLayout: writeLayout.bind(game) }),
    ...(scene && { scene: scene.bind(game) }),
    ...(goals && !goals.reads?.some(changed) && { goals }),
    ...changes,
  };
}

/** The goals of a game where a state has `size` numbers, the first of which are those of the game's own state. */
export function goalsWithin<State extends DType>(
  { goals, stateSize }: AnyGame<State>,
  size = stateSize,
): GoalSet<State> | undefined {
  if (!goals?.readsStates || size === stateSize) return goals;
  const own = (state: ArrayOf<State>) => state.subarray(0, stateSize) as ArrayOf<State>;
  return {
    ...goals,
    reached: (step) => goals.reached({ ...step, before: own(step.before), after: own(step.after) }),
    ...(goals.isOpen && { isOpen: goals.isOpen.bind(goals) }),
  };
}

/** What a game says of its state's being seen, for wrappers that leave the state and its fields as they are. */
export function seenParts<State extends DType>({
  grid,
  observesState,
}: AnyGame<State>): Pick<AnyGame<State>, 'grid' | 'observesState'> {
  return { ...(grid && { grid }), ...(observesState && { observesState }) };
}

/** Refuses a wrapper whose values don't fit into the state of the game. */
export function checkFits<State extends DType>(where: string, game: AnyGame<State>, largest: number): void {
  const cell: ArrayOf<DType> = allocate(game.stateType, 1);
  cell[0] = largest;
  if (cell[0] === largest) return;
  const got = `${game.stateType} of ${game.name}`;
  fail(where, `a state that holds numbers up to ${largest}`, got, 'Use a game whose stateType is int32.');
}

/** The last actions of all agents, held behind a game's own state. */
export interface ActionMemory<State extends DType> {
  /** Values that are added to the state. */
  readonly size: number;
  /** Says that there was no action yet: 0 everywhere. */
  forget(state: ArrayOf<State>, offset: number): void;
  /** Holds the action of one agent, whose values begin at `at`. */
  hold(state: ArrayOf<State>, offset: number, agent: number, actions: ActionArray, at: number): void;
  /** The agent had no action: it was absent. */
  release(state: ArrayOf<State>, offset: number, agent: number): void;
  /**
   * Writes the held action to `out` from `at` on: -1 for each choice of an agent without one, 0 for the values of a
   * box.
   */
  recall(state: ArrayOf<State>, offset: number, agent: number, out: ActionArray, at: number): void;
}

/**
 * A memory for the last actions of all agents: 1 + the option of each choice, the values of a box as they are.
 *
 * @throws CoplayError for a game whose states can't hold them
 */
export function actionMemory<State extends DType>(where: string, game: AnyGame<State>): ActionMemory<State> {
  const { spaces, width } = actionLayout(game);
  checkFits(where, game, Math.max(...spaces.flatMap(choicesOf), 0));
  if (spaces.some(isBox) && !game.stateType.startsWith('float')) {
    const expected = 'a state that holds the actions of a box';
    fail(where, expected, `${game.stateType} of ${game.name}`, 'Use a game whose stateType is float32 or float64.');
  }
  const start = game.stateSize;
  const widths = spaces.map(widthOf);
  const shifts = spaces.map((space) => (isBox(space) ? 0 : 1));
  return {
    size: spaces.length * width,
    forget: (state, offset) => {
      state.fill(0, offset + start, offset + start + spaces.length * width);
    },
    hold: (state, offset, agent, actions, at) => {
      const to = offset + start + agent * width;
      for (let i = 0; i < widths[agent]; i++) state[to + i] = actions[at + i] + shifts[agent];
    },
    release: (state, offset, agent) => {
      const to = offset + start + agent * width;
      state.fill(0, to, to + width);
    },
    recall: (state, offset, agent, out, at) => {
      const from = offset + start + agent * width;
      for (let i = 0; i < widths[agent]; i++) out[at + i] = state[from + i] - shifts[agent];
    },
  };
}
