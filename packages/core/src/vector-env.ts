import { z } from 'zod';
import {
  type ActionArray,
  type ActionLayout,
  type ActionSpaces,
  type ActionsOf,
  actionFault,
  actionLayout,
} from './action-spaces';
import { allocate } from './arrays';
import { checkGame } from './check-game';
import { checkCount, checkNumbers, checkTypedArray } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { isOver, readStart, rememberActions } from './env-rows';
import { checkOptions, fail, show } from './errors';
import { allocateObservations, copyRow } from './experience';
import type { AgentId, AnyGame, Game, StepArrays } from './game';
import { createGenerator, type Generator, type GeneratorState, generatorFrom, splitSeed } from './generator';
import type { ObservationArrays } from './observations';
import type { ArrayOf, DType } from './typed-arrays';

/** Options of {@link vectorEnv}. */
export interface VectorEnvOptions {
  /** E, the number of environments; at least 1 */
  readonly envs: number;
  /** Seed of everything; environment i is seeded with `splitSeed(seed, i)`. Default 0 */
  readonly seed?: number;
  /** Whether `observations` are written (default) or left alone, for rules-only speed. */
  readonly observe?: boolean;
}

const schema = z.strictObject({
  envs: z.int().min(1),
  seed: z.int().min(0).default(0),
  observe: z.boolean().default(true),
});

const resetSchema = z.strictObject({
  seed: z.int().min(0).optional(),
  envs: z.array(z.custom<number>(() => true)).optional(), // `checkEnv` tells their range
  layout: z.unknown().optional(),
});

/** Options of `reset`. Each option takes effect in this call. */
export interface ResetOptions {
  /** Starts the random streams of the named environments anew; without it they run on. */
  readonly seed?: number;
  /** Indices of the environments to reset; all of them by default. The others are untouched. */
  readonly envs?: readonly number[];
  /** A map of the game to start from instead of a random state. */
  readonly layout?: unknown;
}

const sizedSchema = z.looseObject({ agents: z.array(z.string()), infos: z.array(z.string()) });

/** Everything needed to continue a {@link VectorEnv} to the bit. */
export interface VectorEnvState {
  readonly states: ArrayOf<DType>;
  readonly generators: Uint32Array;
  readonly previousActions: ActionArray;
  readonly isFirst: Uint8Array;
  readonly terminated: Uint8Array;
}

const stateSchema = z.looseObject({
  states: typedArrays(),
  generators: typedArrays('uint32'),
  previousActions: typedArrays('int32', 'float32'),
  isFirst: typedArrays('uint8'),
  terminated: typedArrays('uint8'),
});

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
  restore(state: VectorEnvState): void;
}

/**
 * The part of a batch of environments that a rollout uses: environments of `vectorEnv`, or imagined ones, whose steps
 * may be asynchronous.
 */
export type RolloutEnv<Spaces extends ActionSpaces = number> = Omit<
  VectorEnv<Spaces>,
  'reset' | 'step' | 'state' | 'restore'
> & {
  step(actions: ActionsOf<Spaces>): void | Promise<void>;
};

/**
 * A batch of environments of one game: the fast path. Allocates nothing while it steps.
 *
 * @throws CoplayError for an invalid game, unknown options, a bad number of environments or seed
 */
export function vectorEnv<Spaces extends ActionSpaces>(
  game: Game<DType, Spaces>,
  options: VectorEnvOptions,
): VectorEnv<Spaces> {
  checkGame('vectorEnv', game, 'any');
  const { envs, seed, observe } = checkOptions('vectorEnv', schema, options);
  const env: VectorEnv<ActionSpaces> = new BatchedEnv(game as AnyGame, envs, seed, observe);
  return env as unknown as VectorEnv<Spaces>;
}

class BatchedEnv implements VectorEnv<ActionSpaces> {
  readonly agents: readonly AgentId[];
  readonly observations: ObservationArrays;
  readonly masks: Uint8Array;
  readonly active: Uint8Array;
  readonly isFirst: Uint8Array;
  readonly previousActions: ActionArray;
  readonly result: StepArrays;
  readonly ended: Uint8Array;
  readonly finalObservations: ObservationArrays;
  readonly finalMasks: Uint8Array;
  readonly states: ArrayOf<DType>;
  readonly finalStates: ArrayOf<DType>;
  private readonly layout: ActionLayout;
  /** K where each agent has the same number of discrete actions; else undefined */
  private readonly count: number | undefined;
  /** -1, or NaN where an agent has a box */
  private readonly none: number;
  private generators: Generator[];

  constructor(
    readonly game: AnyGame,
    readonly envs: number,
    seed: number,
    private readonly writesObservations: boolean,
  ) {
    const rows = envs * game.agents.length;
    this.agents = game.agents;
    this.layout = actionLayout(game);
    this.count = typeof game.actions === 'number' ? game.actions : undefined;
    this.none = this.layout.dtype === 'int32' ? -1 : Number.NaN;
    this.observations = allocateObservations(game.observation, writesObservations ? rows : 0);
    this.finalObservations = allocateObservations(game.observation, writesObservations ? rows : 0);
    this.masks = new Uint8Array(rows * this.layout.maskSize);
    this.finalMasks = new Uint8Array(rows * this.layout.maskSize);
    this.active = new Uint8Array(rows);
    this.isFirst = new Uint8Array(envs);
    this.previousActions = allocate(this.layout.dtype, rows * this.layout.width);
    this.ended = new Uint8Array(envs);
    this.result = allocateStepArrays(game, envs);
    this.states = allocate(game.stateType, envs * game.stateSize);
    this.finalStates = allocate(game.stateType, envs * game.stateSize);
    this.generators = Array.from({ length: envs }, (_, i) => createGenerator(splitSeed(seed, i)));
    this.reset();
  }

  reset(options: ResetOptions = {}): void {
    const { seed, envs, layout } = checkOptions('vectorEnv.reset', resetSchema, options);
    const chosen = envs ?? Array.from({ length: this.envs }, (_, i) => i);
    for (const env of chosen) this.checkEnv(env);
    // A refused call changes nothing, so states and generators are made first and taken over together.
    const begun = chosen.map((env) => {
      const old = this.generators[env];
      const generator = seed === undefined ? generatorFrom(old.state()) : createGenerator(splitSeed(seed, env));
      return { env, generator, state: this.firstState(layout, generator) };
    });
    for (const { env, generator, state } of begun) {
      this.generators[env] = generator;
      this.states.set(state, env * this.game.stateSize);
      this.enter(env);
    }
  }

  step(actions: ActionArray): void {
    const { game, envs, result, ended, none } = this;
    const { width } = this.layout;
    const stride = game.agents.length * width;
    this.checkActions(actions);
    for (let env = 0; env < envs; env++) {
      game.step(this.states, env * game.stateSize, actions, env * stride, this.generators[env], result, env);
      rememberActions(this, env, actions, width, none); // before `active` is renewed
      const over = isOver(result, env, game.agents.length);
      ended[env] = over ? 1 : 0;
      if (over) {
        this.look(env, this.finalObservations, this.finalMasks);
        copyRow(this.states, env, this.finalStates, env, game.stateSize);
        game.reset(this.states, env * game.stateSize, this.generators[env]);
        this.enter(env);
      } else {
        this.isFirst[env] = 0;
        this.look(env, this.observations, this.masks);
      }
    }
  }

  state(): VectorEnvState {
    const generators = new Uint32Array(this.envs * 4);
    for (let env = 0; env < this.envs; env++) generators.set(this.generators[env].state(), env * 4);
    return {
      states: this.states.slice(),
      generators,
      previousActions: this.previousActions.slice(),
      isFirst: this.isFirst.slice(),
      terminated: this.result.terminated.slice(),
    };
  }

  restore(state: VectorEnvState): void {
    const where = 'vectorEnv.restore';
    checkArgument(where, 'state', stateSchema, state);
    this.checkState(where, state);
    const before = this.state();
    try {
      this.takeOver(state);
    } catch (error) {
      this.takeOver(before); // the game can't read this state
      throw error;
    }
  }

  private checkState(where: string, state: VectorEnvState): void {
    const { length } = this.states;
    const rows = this.envs * this.agents.length;
    if (state.states.length !== length || state.generators.length !== this.envs * 4) {
      const got = `${state.states.length} values of states and ${state.generators.length} of generators`;
      const remedy = 'Restore into an environment of the same game and size.';
      fail(where, `${length} values of states and ${this.envs * 4} of generators`, got, remedy);
    }
    checkArgument(where, 'state.states', typedArrays(this.game.stateType), state.states);
    this.checkPrevious(where, state.previousActions);
    checkNumbers(where, 'state.isFirst', state.isFirst, { length: this.envs, max: 1 });
    checkNumbers(where, 'state.terminated', state.terminated, { length: rows, max: 1 });
  }

  private checkPrevious(where: string, previousActions: ActionArray): void {
    const { layout, count } = this;
    const name = 'state.previousActions';
    checkArgument(where, name, typedArrays(layout.dtype), previousActions);
    const length = this.previousActions.length;
    const limits = count === undefined ? { nan: layout.dtype === 'float32' } : { min: -1, max: count - 1 };
    checkNumbers(where, name, previousActions, { length, ...limits });
  }

  private takeOver(state: VectorEnvState): void {
    this.generators = Array.from({ length: this.envs }, (_, i) =>
      generatorFrom(Array.from(state.generators.subarray(i * 4, i * 4 + 4)) as unknown as GeneratorState),
    );
    this.states.set(state.states);
    this.previousActions.set(state.previousActions);
    this.isFirst.set(state.isFirst);
    this.result.terminated.set(state.terminated);
    for (let env = 0; env < this.envs; env++) this.look(env, this.observations, this.masks);
  }

  /** The state that an episode starts from, in an array of its own. */
  private firstState(layout: unknown, generator: Generator): ArrayOf<DType> {
    const { game } = this;
    const state: ArrayOf<DType> = allocate(game.stateType, game.stateSize);
    if (layout === undefined) game.reset(state, 0, generator);
    else readStart('vectorEnv.reset', game, layout, state);
    return state;
  }

  /** Enters the first state of an episode: observations, masks, who is active. */
  private enter(env: number): void {
    const agents = this.game.agents.length;
    this.isFirst[env] = 1;
    const stride = agents * this.layout.width;
    this.previousActions.fill(this.none, env * stride, (env + 1) * stride);
    this.look(env, this.observations, this.masks);
  }

  /** Writes the observations and legal actions of an environment's agents. */
  private look(env: number, observations: ObservationArrays, masks: Uint8Array): void {
    const { game, states } = this;
    const { maskSize } = this.layout;
    const offset = env * game.stateSize;
    const agents = game.agents.length;
    for (let agent = 0; agent < agents; agent++) {
      const row = env * agents + agent;
      game.legal(states, offset, agent, masks, row * maskSize);
      this.active[row] = game.isActive(states, offset, agent) ? 1 : 0;
      if (this.writesObservations) game.observe(states, offset, agent, observations, row);
    }
  }

  private checkActions(actions: ActionArray): void {
    const { active, game, count: limit } = this;
    if (limit === undefined) {
      this.checkSpaces(actions);
      return;
    }
    if (actions?.length !== active.length || typeof actions !== 'object') {
      const got = ArrayBuffer.isView(actions) ? String(actions.length) : show(actions);
      const expected = `${active.length} actions (${this.envs} environments x ${game.agents.length} agents)`;
      fail('vectorEnv.step', expected, got, 'Give one action for each agent of each environment.');
    }
    for (let row = 0; row < active.length; row++) {
      const action = actions[row];
      // One comparison for both bounds and for NaN.
      if (active[row] === 1 && !(action >= 0 && action < limit && (action | 0) === action)) this.refuse(row, action);
    }
  }

  private refuse(row: number, action: number): never {
    const names = this.game.actionNames.map((name, i) => `${i} ${name}`).join(', ');
    const expected = `an action from 0 to ${Number(this.count) - 1} for ${this.nameRow(row)}`;
    fail('vectorEnv.step', expected, show(action), `The actions are: ${names}.`);
  }

  /** The same for spaces that aren't one number. */
  private checkSpaces(actions: ActionArray): void {
    const { active, layout, previousActions } = this;
    checkTypedArray('vectorEnv.step', 'actions', actions, layout.dtype, previousActions.length);
    for (let row = 0; row < active.length; row++) {
      if (active[row] !== 1) continue;
      const space = layout.spaces[row % layout.spaces.length];
      const fault = actionFault(space, actions, row * layout.width);
      if (fault) fail('vectorEnv.step', `${fault.expected} for ${this.nameRow(row)}`, fault.got, fault.remedy);
    }
  }

  private nameRow(row: number): string {
    const agents = this.game.agents.length;
    return `${this.game.agents[row % agents]} in environment ${Math.floor(row / agents)}`;
  }

  private checkEnv(env: number): void {
    if (!Number.isInteger(env) || env < 0 || env >= this.envs) {
      fail('vectorEnv.reset', `environments from 0 to ${this.envs - 1}`, show(env), 'Give indices of environments.');
    }
  }
}

/** Zeroed step arrays for `rows` environments of a game. */
export function allocateStepArrays(game: Pick<Game, 'agents' | 'infos'>, rows: number): StepArrays {
  checkArgument('allocateStepArrays', 'game', sizedSchema, game);
  checkCount('allocateStepArrays', 'rows', rows);
  const size = rows * game.agents.length;
  return {
    rewards: new Float32Array(size),
    terminated: new Uint8Array(size),
    truncated: new Uint8Array(size),
    infos: Object.fromEntries(game.infos.map((name) => [name, new Float32Array(size)])),
  };
}
