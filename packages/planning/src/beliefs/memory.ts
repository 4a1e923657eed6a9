import {
  type AgentId,
  type AgentStep,
  type ArrayOf,
  type DType,
  fail,
  type Game,
  type GoalSet,
  type SavedState,
  show,
} from '@coplay/core';
import { allocateObservations } from '@coplay/core/arrays';
import { checkCount, checkFunction, checkNumbers, checkTypedArray, reachedGoal } from '@coplay/core/checks';
import { normaliseOpen } from './intra';

/**
 * One observer's memory of one co-player from episode to episode (inter-OM). It gives the prior of the belief:
 * `createBeliefs` calls `prior` where an episode begins and where the co-player has just reached a goal. To change the
 * prior, give a memory of your own as the option `inter` of `createBeliefs`, or as the same option of an agent:
 * `interOM` of `hopAgent`, `treeSearch.interOM` of `hopPlusAgent`.
 */
export interface GoalMemory {
  /**
   * The prior of the co-player's next goal.
   *
   * @param reached  number of goals that the co-player has reached in this episode
   * @param open     [G] from `from` on: 1 where a goal can still be reached
   * @returns [G] finite, sums to 1 and is 0 for goals that aren't open; all 0 where no goal is open. G counts all goals
   *          of the game, also its `noGoal`
   */
  prior(reached: number, open: Uint8Array, from: number): Float64Array;
  /**
   * Learns from an episode that has ended.
   *
   * @param last     the goal that was reached last, in 0..G-1; -1 for none
   * @param reached  number of goals that were reached
   */
  add(last: number, reached: number): void;
  /** Everything that the memory holds, for checkpoints. */
  state(): SavedState;
  restore(saved: SavedState): void;
}

/** Remembers nothing: each episode begins with equally likely open goals. HOP without inter-OM. */
export function uniformMemory(goals: number): GoalMemory {
  checkCount('uniformMemory', 'goals', goals);
  return constantMemory(new Float64Array(goals).fill(1));
}

/**
 * Remembers nothing: each episode begins with the same prior. Goals that can't be reached any more have 0, and the
 * others share the rest in proportion to their weights; where these are all 0, they are equally likely.
 *
 * @param weights  [G] at least 0, one for each goal of the game, also for its `noGoal`; they need not sum to 1
 */
export function fixedMemory(weights: readonly number[]): GoalMemory {
  checkNumbers('fixedMemory', 'weights', weights, { min: 0, atLeast: 1 });
  return constantMemory(Float64Array.from(weights));
}

function constantMemory(weights: Float64Array): GoalMemory {
  return {
    prior: (_reached, open, from) => amongOpen(weights, open, from),
    add: () => {},
    state: () => ({}),
    restore: () => {},
  };
}

/** Weights [G] of goals as a distribution over the open ones. */
export function amongOpen(weights: Float64Array, open: Uint8Array, from: number): Float64Array {
  const own = open.subarray(from, from + weights.length);
  const prior = weights.map((weight, goal) => (own[goal] === 1 ? weight : 0));
  normaliseOpen(prior, own, 0, weights.length);
  return prior;
}

/**
 * The goals that were reached in a step.
 *
 * @param states  [B, S] before the step; those after it are the step's own
 * @returns [B, A] 0..G-1, or -1 for none
 * @throws CoplayError for a `reached` that returns anything else
 */
export function goalsReached(game: Game, states: ArrayOf<DType>, step: AgentStep): Int32Array {
  const { goals, stateSize: S } = game;
  const A = game.agents.length;
  const shown = new Int32Array(step.rows * A).fill(-1);
  if (!goals) return shown;
  const none = states.subarray(0, 0) as ArrayOf<DType>;
  const { states: next } = step;
  if (goals.readsStates) checkTypedArray('beliefs.observe', 'step.states', next, game.stateType, step.rows * S);
  const stateIn = (all: ArrayOf<DType> | undefined, row: number) => {
    return goals.readsStates ? (all!.subarray(row * S, (row + 1) * S) as ArrayOf<DType>) : none;
  };
  const where = `goals.reached of ${game.name}`;
  const observations = allocateObservations(game.observation, 1);
  for (let at = 0; at < shown.length; at++) {
    if (step.active[at] !== 1) continue;
    const row = Math.floor(at / A);
    const agent = at % A;
    if (goals.reads) game.observe(states, row * S, agent, observations, 0);
    const left = step.terminated[at] === 1;
    const [before, after] = [stateIn(states, row), stateIn(next, row)];
    const played = { agent, action: step.actions[at], left, observations, row: 0, before, after };
    shown[at] = reachedGoal(where, goals, played);
  }
  return shown;
}

/** Rounding that the sum of a prior may show. */
const TOLERANCE = 1e-6;

/**
 * Refuses an object without the methods of a memory, and one whose prior isn't a distribution over the open goals. It
 * tries the prior with all goals open and, in games in which goals close, with each goal closed.
 */
export function checkMemory(where: string, coPlayer: AgentId, memory: GoalMemory, goals: GoalSet): void {
  const name = `the memory of ${coPlayer}`;
  if (typeof memory !== 'object' || memory === null || Array.isArray(memory) || ArrayBuffer.isView(memory)) {
    const remedy = `Return one for each co-player, such as fixedMemory([...]) or goalMemory(${goals.names.length}).`;
    fail(`${where}: ${name}`, 'a GoalMemory: prior, add, state and restore', show(memory), remedy);
  }
  for (const method of ['prior', 'add', 'state', 'restore'] as const) {
    checkFunction(`${where}: ${name}`, method, memory[method]);
  }
  const open = new Uint8Array(goals.names.length).fill(1);
  checkPrior(`${where}: ${name}`, memory.prior(0, open, 0), goals, open, 0);
  if (!goals.isOpen) return;
  for (let goal = 0; goal < open.length; goal++) {
    const others = open.map((_, other) => (other === goal ? 0 : 1));
    checkPrior(`${where}: ${name}, called with open[${goal}] = 0`, memory.prior(0, others, 0), goals, others, 0);
  }
}

/** Refuses a prior that isn't a distribution [G] over the open goals, or zeros where no goal is open. */
export function checkPrior(
  where: string,
  prior: Float64Array,
  { names, noGoal }: GoalSet,
  open: Uint8Array,
  from: number,
): void {
  const G = names.length;
  if ((prior as Float64Array | undefined)?.length !== G) {
    const last = noGoal === undefined ? '' : ` Goal ${noGoal}, ${show(names[noGoal])}, counts too.`;
    fail(`${where}: prior`, `${G} numbers, one for each goal`, show(prior), `Give one for each goal.${last}`);
  }
  checkNumbers(where, 'prior', prior, { min: 0 });
  let sum = 0;
  let openGoals = 0;
  for (let goal = 0; goal < G; goal++) {
    sum += prior[goal];
    openGoals += open[from + goal];
    if (open[from + goal] === 1 || prior[goal] === 0) continue;
    const expected = `0 for goal ${goal}, ${show(names[goal])}, which can't be reached any more`;
    fail(
      `${where}: prior`,
      expected,
      String(prior[goal]),
      'Share its probability among the open goals, as fixedMemory(weights) does.',
    );
  }
  const expected = openGoals > 0 ? 1 : 0;
  if (Math.abs(sum - expected) <= TOLERANCE) return;
  fail(`${where}: prior`, `numbers that sum to ${expected}`, `a sum of ${sum}`, 'Divide them by their sum.');
}
