import { type ArrayOf, allocate, type DType, fail, type Game, type GoalSet } from '@coplay/core';

/** The options in which wrappers say that they are there. */
const WRAPPERS = [
  'limitedView',
  'optimisticPartners',
  'permuteSeats',
  'timeLimit',
  'withAgentId',
  'withPreviousActions',
] as const;

/**
 * The game's options and that of a wrapper around it; of several the order, from the innermost, for it makes another
 * game.
 */
export function wrapOptions(game: Game, wrapper: (typeof WRAPPERS)[number], value: unknown): Game['options'] {
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
export function wrap<State extends DType>(game: Game<State>, changes: Partial<Game<State>>): Game<State> {
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
  { goals, stateSize }: Game<State>,
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
export function seenParts<State extends DType>({ grid, observesState }: Game<State>): Partial<Game<State>> {
  return { ...(grid && { grid }), ...(observesState && { observesState }) };
}

/** Refuses a wrapper whose values don't fit into the state of the game. */
export function checkFits<State extends DType>(where: string, game: Game<State>, largest: number): void {
  const cell: ArrayOf<DType> = allocate(game.stateType, 1);
  cell[0] = largest;
  if (cell[0] === largest) return;
  const got = `${game.stateType} of ${game.name}`;
  fail(where, `a state that holds numbers up to ${largest}`, got, 'Use a game whose stateType is int32.');
}
