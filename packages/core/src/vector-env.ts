import { z } from 'zod';
import { type ActionArray, type ActionLayout, type ActionSpaces, actionLayout } from './action-spaces';
import { allocate } from './arrays';
import {
  checkActions,
  checkSavedBatch,
  namedEnvs,
  type ResetOptions,
  savedBatch,
  savedGenerators,
  type VectorEnv,
  type VectorEnvState,
} from './batch';
import { checkGame } from './check-game';
import { allocateStepArrays, isOver, readStart, rememberActions } from './env-rows';
import { checkOptions } from './errors';
import { allocateObservations, copyRow } from './experience';
import { ExternalEnv } from './external';
import type { AgentId, AnyGame, Game, StepArrays } from './game';
import { createGenerator, type Generator, generatorFrom, splitSeed } from './generator';
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
  envs: z.array(z.custom<number>(() => true)).optional(), // `namedEnvs` tells their range
  layout: z.unknown().optional(),
});

/**
 * A batch of environments of one game: the fast path. Allocates nothing while it steps.
 *
 * @throws CoplayError for an invalid game, unknown options, a bad number of environments or seed
 */
export function vectorEnv<Spaces extends ActionSpaces>(
  game: Game<DType, Spaces>,
  options: VectorEnvOptions,
): VectorEnv<Spaces> {
  checkGame('vectorEnv', game, 'any', 'play');
  const { envs, seed, observe } = checkOptions('vectorEnv', schema, options);
  const any = game as AnyGame;
  const env: VectorEnv<ActionSpaces> = any.external
    ? new ExternalEnv(any, any.external, envs, seed)
    : new BatchedEnv(any, envs, seed, observe);
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
    const chosen = namedEnvs('vectorEnv.reset', this.envs, envs);
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
    checkActions('vectorEnv.step', this, this.layout, actions);
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
    return savedBatch(this, this.generators);
  }

  restore(state: VectorEnvState): void {
    checkSavedBatch('vectorEnv.restore', this, this.layout, state);
    const before = this.state();
    try {
      this.takeOver(state);
    } catch (error) {
      this.takeOver(before); // the game can't read this state
      throw error;
    }
  }

  private takeOver(state: VectorEnvState): void {
    this.generators = savedGenerators(state);
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
}
