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
import { checkGame, refuseExternal } from './check-game';
import { checkFunction, checkNumber, checkRecord } from './check-values';
import { allocateStepArrays, rememberActions } from './env-rows';
import { checkOptions, fail } from './errors';
import { allocateObservations } from './experience';
import type { AgentId, AnyGame, ExternalEnvs, ExternalRules, Game, StepArrays } from './game';
import { createGenerator, type Generator, splitSeed } from './generator';
import type { ObservationArrays } from './observations';
import type { DType } from './typed-arrays';

/** The parts of a game that {@link externalGame} can't make itself. */
export type ExternalDescription<Spaces extends ActionSpaces> = Pick<
  Game<DType, Spaces>,
  'name' | 'agents' | 'actions' | 'actionNames' | 'observation' | 'maxSteps' | 'infos' | 'options'
> & { readonly external: ExternalRules<Spaces> };

/**
 * A game whose rules run in another program, such as a simulator or a process of Python. Rollouts, `vectorEnv`,
 * `evaluate`, `selfPlay` and learners take it as any other game. Its state can't be copied: search, imagination by the
 * rules, replays and `parallelEnv` refuse it by name. Its states in batches and experience are the steps played.
 *
 * @throws CoplayError for a description that is wrong
 */
export function externalGame<Spaces extends ActionSpaces>(
  description: ExternalDescription<Spaces>,
): Game<'int32', Spaces> {
  checkRecord('externalGame', 'description', description);
  checkRecord('externalGame', 'description.external', description.external);
  checkNumber('externalGame', 'description.external.envs', description.external.envs, { min: 1, whole: true });
  checkFunction('externalGame', 'description.external.open', description.external.open);
  const refuse = (): never => refuseExternal(`${description.name}: the rules`, description.name);
  const game: Game<'int32', Spaces> = {
    ...description,
    stateType: 'int32',
    stateSize: 1,
    reset: refuse,
    step: refuse,
    legal: refuse,
    observe: refuse,
    isActive: refuse,
    elapsed: (state, offset) => state[offset],
  };
  checkGame('externalGame', game, 'any', 'play');
  return game;
}

const resetSchema = z.strictObject({
  seed: z.int().min(0).optional(),
  envs: z.array(z.custom<number>(() => true)).optional(), // `namedEnvs` tells their range
  layout: z.undefined({ error: 'no layout: the states of the game are in another program' }).optional(),
});

/** A batch of environments of an external game; made by `vectorEnv`. */
export class ExternalEnv implements VectorEnv<ActionSpaces> {
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
  /** [E] steps played in each episode */
  readonly states: Int32Array;
  readonly finalStates: Int32Array;
  private readonly layout: ActionLayout;
  /** -1, or NaN where an agent has a box */
  private readonly none: number;
  private readonly rules: ExternalEnvs;
  private generators: Generator[];
  /** [E] of the next episodes */
  private readonly seeds: Uint32Array;
  private isClosed = false;

  constructor(
    readonly game: AnyGame,
    external: ExternalRules,
    readonly envs: number,
    seed: number,
  ) {
    const rows = envs * game.agents.length;
    this.agents = game.agents;
    this.layout = actionLayout(game);
    this.none = this.layout.dtype === 'int32' ? -1 : Number.NaN;
    this.observations = allocateObservations(game.observation, rows);
    this.finalObservations = allocateObservations(game.observation, rows);
    this.masks = new Uint8Array(rows * this.layout.maskSize);
    this.finalMasks = new Uint8Array(rows * this.layout.maskSize);
    this.active = new Uint8Array(rows);
    this.isFirst = new Uint8Array(envs);
    this.previousActions = allocate(this.layout.dtype, rows * this.layout.width);
    this.ended = new Uint8Array(envs);
    this.result = allocateStepArrays(game, envs);
    this.states = new Int32Array(envs);
    this.finalStates = new Int32Array(envs);
    this.seeds = new Uint32Array(envs);
    this.generators = Array.from({ length: envs }, (_, i) => createGenerator(splitSeed(seed, i)));
    this.rules = external.open(this);
    try {
      this.reset();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  reset(options: ResetOptions = {}): void {
    this.checkOpen('vectorEnv.reset');
    const { seed, envs } = checkOptions('vectorEnv.reset', resetSchema, options);
    const chosen = namedEnvs('vectorEnv.reset', this.envs, envs);
    if (seed !== undefined) for (const env of chosen) this.generators[env] = createGenerator(splitSeed(seed, env));
    this.begin(chosen);
  }

  step(actions: ActionArray): void {
    this.checkOpen('vectorEnv.step');
    checkActions('vectorEnv.step', this, this.layout, actions);
    // The rules renew `active`.
    for (let env = 0; env < this.envs; env++) rememberActions(this, env, actions, this.layout.width, this.none);
    this.rules.step(actions, this.seeds);
    for (let env = 0; env < this.envs; env++) {
      this.states[env]++;
      this.isFirst[env] = 0;
      if (this.ended[env] === 1) this.enter(env);
    }
  }

  state(): VectorEnvState {
    return savedBatch(this, this.generators);
  }

  /** The states themselves can't be restored: all environments begin new episodes, with seeds not used before. */
  restore(state: VectorEnvState): void {
    this.checkOpen('vectorEnv.restore');
    checkSavedBatch('vectorEnv.restore', this, this.layout, state);
    this.generators = savedGenerators(state);
    this.begin(namedEnvs('vectorEnv.restore', this.envs));
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.rules.close();
  }

  private begin(chosen: readonly number[]): void {
    for (const env of chosen) this.seeds[env] = this.generators[env].uint32();
    this.rules.reset(chosen, this.seeds);
    for (const env of chosen) this.enter(env);
  }

  /** What the rules don't know of an episode's first step. */
  private enter(env: number): void {
    const stride = this.agents.length * this.layout.width;
    this.finalStates[env] = this.states[env];
    this.states[env] = 0;
    this.isFirst[env] = 1;
    this.previousActions.fill(this.none, env * stride, (env + 1) * stride);
    this.seeds[env] = this.generators[env].uint32();
  }

  private checkOpen(where: string): void {
    if (this.isClosed) fail(where, 'a batch that is open', 'one that was closed', 'Make another one with vectorEnv().');
  }
}
