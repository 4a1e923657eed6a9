import { z } from 'zod';
import { type ActionArray, type ActionLayout, type ActionSpaces, type ActionsOf, actionFault } from './action-spaces';
import { checkNumbers, checkTypedArray } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { fail, show } from './errors';
import type { AgentId, AnyGame, Game, StepArrays } from './game';
import { type Generator, type GeneratorState, generatorFrom } from './generator';
import type { ObservationArrays } from './observations';
import type { ArrayOf, DType } from './typed-arrays';

/** Options of `reset`. Each option takes effect in this call. */
export interface ResetOptions {
  /** Starts the random streams of the named environments anew; without it they run on. */
  readonly seed?: number;
  /** Indices of the environments to reset; all of them by default. The others are untouched. */
  readonly envs?: readonly number[];
  /** A map of the game to start from instead of a random state. */
  readonly layout?: unknown;
}

/** Everything needed to continue a {@link VectorEnv} to the bit. */
export interface VectorEnvState {
  readonly states: ArrayOf<DType>;
  readonly generators: Uint32Array;
  readonly previousActions: ActionArray;
  readonly isFirst: Uint8Array;
  readonly terminated: Uint8Array;
}

/**
 * E environments of one game that step together. All arrays below are views that belong to the environment and are
 * overwritten by the next `step` or `reset`: copy what you keep (`rollout` does).
 *
 * When an episode ends, the next one begins in the same step: `observations`, `masks` and `active` are those of the new
 * episode, `finalObservations` hold the last observation of the old one, and `ended` is 1 for that environment.
 */
export interface VectorEnv<Spaces extends ActionSpaces = number> {
  readonly game: Game<DType, Spaces>;
  readonly agents: readonly AgentId[];
  /** E */
  readonly envs: number;
  /** [E, A, ...shape] for each field: each agent's present observation */
  readonly observations: ObservationArrays;
  /** [E, A, K] each agent's legal actions, 1 where legal */
  readonly masks: Uint8Array;
  /** [E, A] who plays now */
  readonly active: Uint8Array;
  /** [E] 1 where the present step is the first of its episode */
  readonly isFirst: Uint8Array;
  /**
   * [E, A] the last step's actions in this episode; -1 in the first step and for agents that had left. In other spaces
   * [E, A, W], and NaN for -1 where an agent has a box
   */
  readonly previousActions: ActionsOf<Spaces>;
  /** Rewards, ends and infos of the last step; [E, A] */
  readonly result: StepArrays;
  /** [E] 1 where the last step ended an episode */
  readonly ended: Uint8Array;
  /** [E, A, ...shape] the last observation of episodes that ended with the last step; elsewhere not meaningful */
  readonly finalObservations: ObservationArrays;
  /** [E, A, K] the masks that go with them */
  readonly finalMasks: Uint8Array;
  /** The states, `game.stateSize` values for each environment; read only. */
  readonly states: ArrayOf<DType>;
  /** [E, S] the last states of episodes that ended with the last step; elsewhere not meaningful */
  readonly finalStates: ArrayOf<DType>;
  reset(options?: ResetOptions): void;
  /**
   * Plays one step in every environment.
   *
   * @param actions  [E, A] in 0..K-1; in other spaces [E, A, W]. Actions of inactive agents are ignored
   * @throws CoplayError for an action out of range of an active agent, before anything has changed
   */
  step(actions: ActionsOf<Spaces>): void;
  state(): VectorEnvState;
  /** Goes on from a saved state. Of an external game, which has none to save, all environments begin new episodes. */
  restore(state: VectorEnvState): void;
  /** Frees the environments of an external game; absent where there is nothing to free. */
  close?(): void;
}

/**
 * The part of a batch of environments that a rollout uses: environments of `vectorEnv`, or imagined ones, whose steps
 * may be asynchronous.
 */
export type RolloutEnv<Spaces extends ActionSpaces = number> = Omit<
  VectorEnv<Spaces>,
  'reset' | 'step' | 'state' | 'restore' | 'close'
> & {
  step(actions: ActionsOf<Spaces>): void | Promise<void>;
};

/*
 * Checks that all batches of environments make of what they are given.
 */

/** The part of a batch that they read. */
interface Batch {
  readonly game: AnyGame;
  readonly envs: number;
  /** [E, A] */
  readonly active: Uint8Array;
  /** [E, A, W] */
  readonly previousActions: ActionArray;
  readonly states: ArrayOf<DType>;
}

/** Refuses actions of active agents that don't lie in their spaces. */
export function checkActions(where: string, batch: Batch, layout: ActionLayout, actions: ActionArray): void {
  const { active, game } = batch;
  const limit = game.actions;
  if (typeof limit !== 'number') {
    checkSpaces(where, batch, layout, actions);
    return;
  }
  if (actions?.length !== active.length || typeof actions !== 'object') {
    const got = ArrayBuffer.isView(actions) ? String(actions.length) : show(actions);
    const expected = `${active.length} actions (${batch.envs} environments x ${game.agents.length} agents)`;
    fail(where, expected, got, 'Give one action for each agent of each environment.');
  }
  for (let row = 0; row < active.length; row++) {
    const action = actions[row];
    // One comparison for both bounds and for NaN.
    if (active[row] === 1 && !(action >= 0 && action < limit && (action | 0) === action)) {
      refuseAction(where, batch, row, action, limit);
    }
  }
}

function refuseAction(where: string, { game }: Batch, row: number, action: number, limit: number): never {
  const names = game.actionNames.map((name, i) => `${i} ${name}`).join(', ');
  const expected = `an action from 0 to ${limit - 1} for ${nameRow(game, row)}`;
  fail(where, expected, show(action), `The actions are: ${names}.`);
}

/** The same for spaces that aren't one number. */
function checkSpaces(where: string, batch: Batch, layout: ActionLayout, actions: ActionArray): void {
  const { active, game, previousActions } = batch;
  checkTypedArray(where, 'actions', actions, layout.dtype, previousActions.length);
  for (let row = 0; row < active.length; row++) {
    if (active[row] !== 1) continue;
    const space = layout.spaces[row % layout.spaces.length];
    const fault = actionFault(space, actions, row * layout.width);
    if (fault) fail(where, `${fault.expected} for ${nameRow(game, row)}`, fault.got, fault.remedy);
  }
}

function nameRow({ agents }: AnyGame, row: number): string {
  return `${agents[row % agents.length]} in environment ${Math.floor(row / agents.length)}`;
}

/** Indices of environments that were named; all of them where none were. */
export function namedEnvs(where: string, envs: number, named?: readonly number[]): readonly number[] {
  const chosen = named ?? Array.from({ length: envs }, (_, i) => i);
  for (const env of chosen) {
    if (!Number.isInteger(env) || env < 0 || env >= envs) {
      fail(where, `environments from 0 to ${envs - 1}`, show(env), 'Give indices of environments.');
    }
  }
  return chosen;
}

const stateSchema = z.looseObject({
  states: typedArrays(),
  generators: typedArrays('uint32'),
  previousActions: typedArrays('int32', 'float32'),
  isFirst: typedArrays('uint8'),
  terminated: typedArrays('uint8'),
});

/** What a batch saves of itself. */
interface SavedParts extends Batch {
  readonly isFirst: Uint8Array;
  readonly result: StepArrays;
}

/** Copies of everything needed to continue a batch. */
export function savedBatch(
  { states, previousActions, isFirst, result }: SavedParts,
  generators: readonly Generator[],
): VectorEnvState {
  return {
    states: states.slice(),
    generators: Uint32Array.from(generators.flatMap((generator) => [...generator.state()])), // [E * 4]
    previousActions: previousActions.slice(),
    isFirst: isFirst.slice(),
    terminated: result.terminated.slice(),
  };
}

/** The generators of a saved batch, one for each environment. */
export function savedGenerators({ generators }: VectorEnvState): Generator[] {
  return Array.from({ length: generators.length / 4 }, (_, env) =>
    generatorFrom(Array.from(generators.subarray(env * 4, env * 4 + 4)) as unknown as GeneratorState),
  );
}

/** Refuses the saved state of another batch. */
export function checkSavedBatch(where: string, batch: Batch, layout: ActionLayout, saved: VectorEnvState): void {
  checkArgument(where, 'state', stateSchema, saved);
  const { game, envs, active, states, previousActions } = batch;
  if (saved.states.length !== states.length || saved.generators.length !== envs * 4) {
    const got = `${saved.states.length} values of states and ${saved.generators.length} of generators`;
    const remedy = 'Restore into an environment of the same game and size.';
    fail(where, `${states.length} values of states and ${envs * 4} of generators`, got, remedy);
  }
  checkArgument(where, 'state.states', typedArrays(game.stateType), saved.states);
  checkArgument(where, 'state.previousActions', typedArrays(layout.dtype), saved.previousActions);
  const count = typeof game.actions === 'number' ? game.actions : undefined;
  const limits = count === undefined ? { nan: layout.dtype === 'float32' } : { min: -1, max: count - 1 };
  const length = previousActions.length;
  checkNumbers(where, 'state.previousActions', saved.previousActions, { length, ...limits });
  checkNumbers(where, 'state.isFirst', saved.isFirst, { length: envs, max: 1 });
  checkNumbers(where, 'state.terminated', saved.terminated, { length: active.length, max: 1 });
}
