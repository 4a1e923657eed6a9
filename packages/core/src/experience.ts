import { z } from 'zod';
import { type ActionLayout, type ActionSpaces, type ActionsOf, actionLayout, allocateActions } from './action-spaces';
import { allocate, sizeOf } from './arrays';
import { checkExperienceSpec } from './check-game';
import { checkCount } from './check-values';
import { checkArgument } from './checks';
import { fail, show } from './errors';
import type { AgentId, ExperienceSpec } from './game';
import type { ObservationArrays, ObservationSpec } from './observations';
import type { NamedArrays, NDArray, TypedArray } from './typed-arrays';

/**
 * Experience of A agents in E environments over T steps: arrays `[E, T, A, ...]`; each row is one agent's step. Index t
 * holds the observation before action t, the action, and its reward.
 *
 * An environment's T steps may be one episode (then padded after `lengths[e]` steps) or a piece of the stream that
 * autoreset makes (then `ended` marks the last step of each episode). An episode may also be broken off: the
 * environment was reset before its end. Then nothing is `ended`, and `isFirst` of the next step is 1: see
 * `isLastStep`.
 */
export interface Experience<Spaces extends ActionSpaces = number> {
  readonly agents: readonly AgentId[];
  readonly observation: ObservationSpec;
  /** E */
  readonly envs: number;
  /** T */
  readonly steps: number;
  /** K, the number of discrete actions; of other spaces the size of the longest mask, 0 where all are boxes */
  readonly actionCount: number;
  /** The actions of the game, unless they are discrete: then `actionCount` says it all. */
  readonly actionSpaces?: ActionSpaces;
  /** [E, T, A, ...shape] for each field */
  readonly observations: ObservationArrays;
  /** [E, T, A, K] */
  readonly masks: Uint8Array;
  /** [E, T, A]; in other spaces [E, T, A, W], where values that an agent's space lacks are 0 */
  readonly actions: ActionsOf<Spaces>;
  /**
   * [E, T, A] each agent's action in the previous step; -1 in the first step and for agents that had left. In other
   * spaces [E, T, A, W], and NaN for -1 where an agent has a box
   */
  readonly previousActions: ActionsOf<Spaces>;
  /** [E, T, A] */
  readonly rewards: Float32Array;
  /** [E, T, A] 1 until and including the step in which an agent ends; 0 in padding */
  readonly active: Uint8Array;
  /** [E, T, A] cumulative within an episode */
  readonly terminated: Uint8Array;
  /** [E, T, A] 1 where a time limit cut an agent that was still playing */
  readonly truncated: Uint8Array;
  /** [E, T] 1 in the first step of an episode */
  readonly isFirst: Uint8Array;
  /** [E, T] 1 in the last step of an episode */
  readonly ended: Uint8Array;
  /** [E] steps that are filled, at most T */
  readonly lengths: Int32Array;
  /** [E] 1 where a model made it */
  readonly isImagined: Uint8Array;
  /** The observations after the last step of each episode and of each environment's stream. */
  readonly cuts: Cuts<Spaces>;
  /**
   * Named numbers `[E, T, A, ...]`: the agents' extras (`logProbs`, subgoals, search policies; NaN where an agent gave
   * none), and the infos of the game as `info/NAME`.
   */
  readonly extras: NamedArrays;
  /**
   * [E, T, S] the game's state before each step: what imagination and hindsight labels start from. A rollout records
   * it; experience from elsewhere may lack it. It may hold what no agent sees, so no agent acts by it.
   */
  readonly states?: NDArray;
}

/**
 * The observations after steps whose successor is not in the stream: the last step of each episode, and the last filled
 * step of each environment. N places. Values are bootstrapped there unless the rules ended the agent; models of the
 * world learn from all of them.
 */
export interface Cuts<Spaces extends ActionSpaces = number> {
  /** [N] environment */
  readonly env: Int32Array;
  /** [N] step t: the observations below were seen after it */
  readonly step: Int32Array;
  /** [N, A, ...shape] for each field */
  readonly observations: ObservationArrays;
  /** [N, A, K] */
  readonly masks: Uint8Array;
  /** [N, A] the actions of step t; -1 for agents that had left. In other spaces as in the experience */
  readonly previousActions: ActionsOf<Spaces>;
  /** Named numbers [N, A, ...] that a learner adds for its networks, such as subgoals; a rollout gives none. */
  readonly extras?: NamedArrays;
  /** [N, S] the game's states after the steps, where the experience has states */
  readonly states?: NDArray;
}

/**
 * Whether the next step of the arrays isn't the successor of step e T + t: its episode ended, the arrays do, or the
 * next step is the first of another episode since the environment was reset. Padding after `lengths` is left to the
 * caller.
 */
export function isLastStep(
  { steps, ended, isFirst }: Pick<Experience, 'steps' | 'ended'> & Partial<Pick<Experience, 'isFirst'>>,
  step: number,
): boolean {
  return ended[step] === 1 || (step + 1) % steps === 0 || isFirst?.[step + 1] === 1;
}

/** Zeroed observation arrays for `rows` rows. */
export function allocateObservations(spec: ObservationSpec, rows: number): ObservationArrays {
  checkSpec('allocateObservations', spec);
  checkCount('allocateObservations', 'rows', rows);
  const arrays: ObservationArrays = {};
  for (const [name, field] of Object.entries(spec)) arrays[name] = allocate(field.dtype, rows * sizeOf(field.shape));
  return arrays;
}

/** Copies row `from` of every field to row `to`. */
export function copyObservation(
  spec: ObservationSpec,
  source: ObservationArrays,
  from: number,
  target: ObservationArrays,
  to: number,
): void {
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec) || spec instanceof Promise)
    checkSpec('copyObservation', spec);
  for (const name in spec) {
    const shape = spec[name]?.shape;
    if (!Array.isArray(shape)) checkSpec('copyObservation', spec);
    const size = sizeOf(shape);
    if (!(holdsRow(source?.[name], from, size) && holdsRow(target?.[name], to, size))) {
      refuseRow('copyObservation', source?.[name], from, target?.[name], to, size);
    }
    copyValues(source[name], from, target[name], to, size);
  }
}

/** Copies `size` values of row `from` to row `to`. */
export function copyRow(source: TypedArray, from: number, target: TypedArray, to: number, size: number): void {
  if (!(holdsRow(source, from, size) && holdsRow(target, to, size))) {
    refuseRow('copyRow', source, from, target, to, size);
  }
  copyValues(source, from, target, to, size);
}

function copyValues(source: TypedArray, from: number, target: TypedArray, to: number, size: number): void {
  if (size > 64) target.set(source.subarray(from * size, (from + 1) * size), to * size);
  else for (let i = 0; i < size; i++) target[to * size + i] = source[from * size + i]; // cheaper than a view
}

function holdsRow(array: TypedArray | undefined, row: number, size: number): boolean {
  if (!Number.isInteger(row) || row < 0 || !Number.isInteger(size) || size < 0) return false;
  return ArrayBuffer.isView(array) && (row + 1) * size <= array.length;
}

function refuseRow(
  where: string,
  source: TypedArray | undefined,
  from: number,
  target: TypedArray | undefined,
  to: number,
  size: number,
): never {
  const got = `row ${show(from)} of ${show(source)} and row ${show(to)} of ${show(target)}, of ${show(size)} values`;
  return fail(where, 'rows that lie within both typed arrays', got, 'Count rows from 0, and give the size of one row.');
}

/**
 * Zeroed experience of `envs` environments over `steps` steps of a game, without cuts or extras; `previousActions` are
 * -1 (NaN where an agent has a box).
 */
export function allocateExperience<Spaces extends ActionSpaces>(
  game: ExperienceSpec<Spaces>,
  envs: number,
  steps: number,
): Experience<Spaces> {
  checkSizes('allocateExperience', game, { envs, steps });
  const layout = actionLayout(game);
  const agents = game.agents.length;
  const rows = envs * steps * agents;
  return {
    agents: game.agents,
    observation: game.observation,
    envs,
    steps,
    actionCount: layout.maskSize,
    ...(typeof game.actions !== 'number' && { actionSpaces: game.actions }),
    observations: allocateObservations(game.observation, rows),
    masks: new Uint8Array(rows * layout.maskSize),
    actions: allocate(layout.dtype, rows * layout.width) as ActionsOf<Spaces>,
    previousActions: allocateActions(layout, envs * steps) as ActionsOf<Spaces>,
    rewards: new Float32Array(rows),
    active: new Uint8Array(rows),
    terminated: new Uint8Array(rows),
    truncated: new Uint8Array(rows),
    isFirst: new Uint8Array(envs * steps),
    ended: new Uint8Array(envs * steps),
    lengths: new Int32Array(envs).fill(steps),
    isImagined: new Uint8Array(envs),
    cuts: cutsOf<Spaces>(game, layout, 0),
    extras: {},
  };
}

/** Zeroed cuts for N places. */
export function allocateCuts<Spaces extends ActionSpaces>(game: ExperienceSpec<Spaces>, count: number): Cuts<Spaces> {
  checkSizes('allocateCuts', game, { count });
  return cutsOf(game, actionLayout(game), count);
}

function cutsOf<Spaces extends ActionSpaces>(
  game: Pick<ExperienceSpec, 'agents' | 'observation'>,
  layout: ActionLayout,
  count: number,
): Cuts<Spaces> {
  const agents = game.agents.length;
  return {
    env: new Int32Array(count),
    step: new Int32Array(count),
    observations: allocateObservations(game.observation, count * agents),
    masks: new Uint8Array(count * agents * layout.maskSize),
    previousActions: allocateActions(layout, count) as ActionsOf<Spaces>,
  };
}

const field = z.looseObject({ shape: z.array(z.int().min(0)), dtype: z.string() });
const spec = z.record(z.string(), field);

function checkSpec(where: string, given: ObservationSpec): void {
  checkArgument(where, 'spec', spec, given);
}

function checkSizes(where: string, game: ExperienceSpec<ActionSpaces>, sizes: Record<string, number>): void {
  checkExperienceSpec(where, game, 'any');
  for (const [name, size] of Object.entries(sizes)) checkCount(where, name, size);
}
