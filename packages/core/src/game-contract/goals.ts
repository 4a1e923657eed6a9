import { allocate, sizeOf } from '../arrays';
import { show } from '../errors';
import type { AnyGame } from '../game';
import { expectedGoal, type GoalSet, type GoalStep, isGoal, RETURN_INDEX } from '../goals';
import type { ObservationArrays } from '../observations';
import type { ArrayOf, DType } from '../typed-arrays';
import { firstDifference } from './guarded';
import type { Transition } from './play';
import type { Probe } from './probe';

/** The row in which `reached` finds its observation; the row before it holds other numbers. */
const ROW = 1;

/**
 * Checks the goals of a game on an episode that was played: `reached` returns a goal or -1, from its declared inputs
 * alone, twice the same, and only goals that were open; `isOpen` reads the state at its offset; no function writes into
 * its inputs.
 */
export function checkGoalsReached({ game, findings }: Probe, transitions: readonly Transition[]): void {
  const { goals } = game;
  if (!goals) return;
  const others = [transitions[0]?.before, transitions.at(-1)?.after];
  transitions.forEach((transition, t) => {
    findings.moment = `step ${t + 1} of an episode that was played again`;
    transition.views.forEach(({ isActive }, agent) => {
      if (isActive) checkReached({ game, findings }, goals, transition, agent);
    });
    checkOpen({ game, findings }, goals, transition, others);
  });
}

type Checked = Pick<Probe, 'game' | 'findings'>;

function checkReached({ game, findings }: Checked, goals: GoalSet, transition: Transition, agent: number): void {
  const place = 'goals.reached';
  const step = goalStep(game, goals, transition, agent, goals.readsStates === true);
  const before = contentOf(step);
  let reached: number;
  let again: number;
  try {
    reached = goals.reached(step);
    again = goals.reached(step);
  } catch (error) {
    const remedy = 'Name the fields of the observation that it reads in goals.reads.';
    findings.add('exception', place, 'no exception', String(error), remedy);
    return;
  }
  if (firstDifference(before, contentOf(step)) >= 0) {
    const remedy = 'Only read states and observations there.';
    findings.add('arrays', place, 'its inputs to be left alone', 'changed inputs', remedy);
  }
  if (!isGoal(goals, reached)) {
    findings.add('goals', place, expectedGoal(goals), show(reached), RETURN_INDEX);
    return;
  }
  if (again !== reached) {
    const remedy = 'Compute the goal from the step alone.';
    findings.add('goals', place, 'the same goal of the same step', `${reached} and then ${again}`, remedy);
  }
  const other = goals.readsStates ? reached : reachedWithStates(game, goals, transition, agent);
  if (other !== reached) {
    const got = `${reached}, and ${other} with the states of the step`;
    const remedy = 'Declare goals.readsStates: true if the goal depends on states.';
    findings.add('goals', place, 'a goal that does not depend on states', got, remedy);
  }
  const state = Object.assign(allocate(game.stateType, game.stateSize), transition.before) as ArrayOf<DType>;
  if (reached < 0 || goals.isOpen?.(reached, state, 0) !== false) return;
  const got = `goal ${reached}, ${show(goals.names[reached])}, which isOpen had closed`;
  findings.add('goals', place, 'goals that were open before the step', got, 'Let isOpen and reached agree.');
}

/** -2 where the function throws. */
function reachedWithStates(game: AnyGame, goals: GoalSet, transition: Transition, agent: number): number {
  try {
    return goals.reached(goalStep(game, goals, transition, agent, true));
  } catch {
    return -2;
  }
}

/** @param others  states of the same game, which lie before the one that `isOpen` reads */
function checkOpen(
  { game, findings }: Checked,
  goals: GoalSet,
  { before }: Transition,
  others: readonly (readonly number[] | undefined)[],
): void {
  if (!goals.isOpen) return;
  const state = Object.assign(allocate(game.stateType, game.stateSize), before) as ArrayOf<DType>;
  goals.names.forEach((name, goal) => {
    const isOpen: unknown = goals.isOpen!(goal, state, 0);
    const again: unknown = goals.isOpen!(goal, state, 0);
    if (typeof isOpen !== 'boolean' || isOpen !== again) {
      const got = `${show(isOpen)} and then ${show(again)} for ${show(name)}`;
      const remedy = 'Compute it from the state alone.';
      findings.add('goals', 'goals.isOpen', 'true or false, twice the same', got, remedy);
    }
    for (const other of others) {
      const both = Object.assign(allocate(game.stateType, 2 * game.stateSize), [...other!, ...before]);
      const later: unknown = goals.isOpen!(goal, both as ArrayOf<DType>, game.stateSize);
      if (later === isOpen) continue;
      const expected = 'the same of a state at any offset';
      const got = `${show(isOpen)} at offset 0, and ${show(later)} at offset ${game.stateSize} for ${show(name)}`;
      findings.add('goals', 'goals.isOpen', expected, got, 'Read state[offset + i] instead of state[i].');
    }
  });
  if (firstDifference(before, Array.from(state)) < 0) return;
  const remedy = 'Only read the state there.';
  findings.add('arrays', 'goals.isOpen', 'the state to be left alone', 'a changed state', remedy);
}

/** An agent's step as `reached` receives it, in arrays of its own. */
function goalStep(
  game: AnyGame,
  goals: GoalSet,
  { views, actions, outcome, before, after }: Transition,
  agent: number,
  withStates: boolean,
): GoalStep {
  const observations: ObservationArrays = {};
  for (const name of goals.reads ?? []) {
    const { dtype, shape } = game.observation[name];
    const size = sizeOf(shape);
    observations[name] = allocate(dtype, (ROW + 1) * size);
    observations[name].set(views[agent].sight[name], ROW * size);
  }
  const copy = (state: readonly number[]) => {
    return Object.assign(
      allocate(game.stateType, withStates ? state.length : 0),
      withStates ? state : [],
    ) as ArrayOf<DType>;
  };
  const left = outcome['terminated'][agent] === 1;
  return {
    ...{ agent, action: actions[agent * (actions.length / views.length)], left, observations, row: ROW },
    ...{ before: copy(before), after: copy(after) },
  };
}

/** All numbers that a step consists of. */
function contentOf({ observations, before, after }: GoalStep): number[] {
  return [...Object.values(observations), before, after].flatMap((array) => Array.from(array));
}
