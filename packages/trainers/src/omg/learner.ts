import { createHistoryBuffer, type HistoryBuffer } from '@coplay/buffers';
import {
  type AgentId,
  checkOptions,
  type DType,
  type Experience,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  type SavedState,
} from '@coplay/core';
import {
  checkArgument,
  checkCount,
  checkExperienceOf,
  checkGenerator,
  checkObservationArrays,
  checkRecord,
  checkTypedArray,
  namedArrays,
  restorePart,
} from '@coplay/core/checks';
import { checkRowSpec, type RowSpec } from '@coplay/core/rows';
import { z } from 'zod';
import { findNonFinite, NonFiniteError } from '../training';
import { unit } from '../training/annealed';
import { checkNetworks } from '../training/own-networks';
import { type Takeover, takeOverParts, withFields } from '../training/restore';
import { type Inferred, inferOver, inferSubgoals } from './infer';
import { trainInference, trainVae } from './learn';
import type { OmgOptions } from './options';
import { type OmgPretrainOptions, pretrainOmg } from './pretrain';
import { type OmgNetwork, type OmgSetup, omgNetwork, omgSetup } from './setup';
import { inferredSubgoals, type MixedSubgoals, mixSubgoals, type SubgoalsOfOptions, stateLatents } from './subgoals';
import type { OwnView } from './views';

/**
 * Subgoal inference (OMG; Yu, Jiang, Lu 2024) for one observer: one network, applied to the view of each co-player.
 * Subgoals of all co-players lie side by side, D numbers each, in cyclic order from the observer's seat.
 */
export interface OmgLearner {
  readonly id: AgentId;
  /** D */
  readonly goalDim: number;
  /** D: numbers of the subgoals of all co-players; 0 without co-players. */
  readonly subgoalSize: number;
  /** units: numbers of the state that `infer` carries. */
  readonly stateSize: number;
  /** Whether the state VAE is frozen; before, inferred subgoals mean nothing yet, and none are selected. */
  readonly isReady: boolean;
  /** Updates done so far. */
  readonly updates: number;
  /** Its description for a run directory, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The histories that `update` learns from. */
  readonly buffer: HistoryBuffer;
  /** Makes the first parameters, unless there are some already. */
  initialise(generator: Generator): Promise<void>;
  /**
   * Takes the next rollout's histories.
   *
   * @param values  [E, T, A] V of each state, for selectors that go by value
   * @returns the number of histories that ended in it
   * @throws CoplayError for imagined experience
   */
  push(experience: Experience, values?: Float32Array): number;
  /**
   * Trains on the buffer's content: in the first `vaeUpdates` the state VAE, then the inference. Nothing, and only
   * counts, where it holds none.
   */
  update(generator: Generator): Promise<Metrics>;
  /**
   * Trains the state VAE, and if asked for the inference, on a data set; the VAE is frozen then.
   *
   * @returns the metrics of each call of `vaeSteps` or `inferenceSteps` gradient steps, in order
   */
  pretrain(data: Experience, options: OmgPretrainOptions, generator: Generator): Promise<readonly Metrics[]>;
  /**
   * The subgoals of all co-players, for acting; zeros for co-players that have left.
   *
   * @param state  [B, stateSize] as the call before returned it; taken for zeros where an episode begins
   * @returns `subgoals` [B, (A-1) D], means of q(g | history, state), and the next `state`
   */
  infer(view: OwnView, state: Float32Array): Promise<Inferred>;
  /**
   * {@link infer} over recorded steps, each environment's stream from an empty memory on, with the present networks.
   *
   * @returns [E, T, (A-1) D]; zeros for co-players that have left
   */
  inferOver(experience: Experience): Promise<Float32Array>;
  /**
   * The frozen prior's latents of the recorded states themselves, which subgoals are chosen from.
   *
   * @returns [E, T, (A-1) D]; zeros where the co-player wasn't there
   */
  latentsOf(experience: Experience): Promise<Float32Array>;
  /**
   * Subgoals for training the observer's policy: with the probability epsilon a step's selected ones, which needs the
   * following steps, else the subgoals that were inferred while it acted. All co-players' of a step together. A window
   * also ends where the rollout does.
   */
  subgoalsOf(experience: Experience, options: SubgoalsOfOptions): Promise<MixedSubgoals>;
  /** Copies of the present parameters, named `vae/...` and `inference/...`. */
  parameters(): Promise<NamedArrays>;
  state(): Promise<SavedState>;
  restore(saved: SavedState): Promise<void>;
  /** Frees memory outside JavaScript's reach. */
  dispose(): void;
}

/**
 * Makes the learner of one observer.
 *
 * @throws CoplayError for an option that is unknown, out of range or doesn't go with the game
 */
export function createOmg(options: OmgOptions): OmgLearner {
  return new Omg(omgSetup('createOmg', options));
}

const subgoalsOfSchema = z.strictObject({
  values: z.unknown().optional(),
  epsilon: unit,
  generator: z.unknown(),
  extra: z.string().optional(),
});

/** Updates between flushes of denormal numbers, which slow down every operation that meets them. */
const FLUSH_EVERY = 8;

const savedSchema = z.looseObject({
  vae: namedArrays,
  vaeSlots: namedArrays,
  inference: namedArrays,
  inferenceSlots: namedArrays,
  updates: z.int().min(0),
  isPretrained: z.boolean(),
  buffer: z.looseObject({}),
});

class Omg implements OmgLearner {
  updates = 0;
  readonly buffer: HistoryBuffer;
  private isPretrained = false;
  private readonly network: OmgNetwork;

  constructor(private readonly setup: OmgSetup) {
    this.network = omgNetwork(setup);
    const { seat, settings } = setup;
    const { capacity, clearEvery, view, valuesOf, store } = settings;
    const needsValues = this.needsValues;
    this.buffer = createHistoryBuffer({ observer: seat, capacity, clearEvery, view, valuesOf, store, needsValues });
  }

  /** Whether subgoals are selected by values. */
  private get needsValues(): boolean {
    const { settings, others } = this.setup;
    return (settings.selector === 'optimistic' || settings.selector === 'conservative') && others.length > 0;
  }

  get id(): AgentId {
    return this.setup.id;
  }

  get goalDim(): number {
    return this.setup.settings.goalDim;
  }

  get subgoalSize(): number {
    return this.setup.others.length * this.goalDim;
  }

  get stateSize(): number {
    return this.setup.others.length * this.setup.inference.stateSize;
  }

  get isReady(): boolean {
    return this.isPretrained || this.updates >= this.setup.settings.vaeUpdates;
  }

  get config(): Readonly<Record<string, unknown>> {
    return this.setup.config;
  }

  async initialise(generator: Generator): Promise<void> {
    this.network.initialise(generator);
  }

  push(experience: Experience, values?: Float32Array): number {
    checkExperienceOf(this.where('push'), this.setup.game, experience);
    if (values !== undefined) {
      checkTypedArray(this.where('push'), 'values', values, 'float32', experience.rewards.length);
    }
    const { selector } = this.setup.settings;
    if (this.needsValues && !values) {
      const remedy = "Give the values of all states, or the selector 'fixed' or 'random'.";
      fail(this.where('push'), `values for the selector ${selector}`, 'none', remedy);
    }
    return this.buffer.push(experience, values);
  }

  async update(generator: Generator): Promise<Metrics> {
    checkGenerator(this.where('update'), generator);
    const network = this.network.running();
    const { buffer, setup } = this;
    const train = this.isReady ? trainInference : trainVae;
    const learned = buffer.size === 0 ? {} : await train(setup, network, buffer, generator);
    if (buffer.size > 0 || setup.others.length === 0) this.updates++;
    if (this.updates % FLUSH_EVERY === 0) await this.tidy();
    return { ...learned, 'omg/histories': buffer.histories, 'omg/steps': buffer.size };
  }

  async pretrain(data: Experience, options: OmgPretrainOptions, generator: Generator): Promise<readonly Metrics[]> {
    checkExperienceOf(this.where('pretrain'), this.setup.game, data, 'data');
    checkGenerator(this.where('pretrain'), generator);
    const network = this.network.running();
    const metrics = await pretrainOmg(this.setup, network, data, options, generator);
    await this.tidy();
    this.isPretrained = true;
    return metrics;
  }

  async infer(view: OwnView, state: Float32Array): Promise<Inferred> {
    this.checkView(view);
    return inferSubgoals(this.setup, this.network.running(), view, state);
  }

  async inferOver(experience: Experience): Promise<Float32Array> {
    checkExperienceOf(this.where('inferOver'), this.setup.game, experience);
    return inferOver(this.setup, this.network.running(), experience);
  }

  async latentsOf(experience: Experience): Promise<Float32Array> {
    checkExperienceOf(this.where('latentsOf'), this.setup.game, experience);
    return stateLatents(this.setup, this.network.running(), experience);
  }

  async subgoalsOf(experience: Experience, options: SubgoalsOfOptions): Promise<MixedSubgoals> {
    this.checkSubgoalsOf(experience, options);
    const network = this.network.running();
    if (this.isReady) return mixSubgoals(this.setup, network, experience, options);
    const subgoals = inferredSubgoals(this.setup, experience, options);
    return { subgoals, replaced: new Uint8Array(experience.envs * experience.steps) };
  }

  async parameters(): Promise<NamedArrays> {
    const { vae, inference } = this.network.running().groups;
    const named = async (prefix: string, arrays: Promise<NamedArrays>) =>
      Object.entries(await arrays).map(([name, array]) => [`${prefix}/${name}`, array]);
    return Object.fromEntries([...(await named('vae', vae.read())), ...(await named('inference', inference.read()))]);
  }

  async state(): Promise<SavedState> {
    const { updates, isPretrained, buffer } = this;
    const { networks } = this.setup;
    return {
      ...(await this.network.read()),
      ...(Object.keys(networks).length > 0 && { networks }),
      ...{ updates, isPretrained, buffer: buffer.state() },
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for learners that consist of several. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const where = `OMG (${this.id}): restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    checkNetworks(where, this.setup.networks, saved['networks']);
    const network = this.network.takeOver(where, 'saved', saved);
    const buffer = saved['buffer'] as SavedState;
    const isShared = this.setup.settings.store !== undefined;
    // The state of a store is restored by its owner; here it is compared, once everything is there.
    const parts = isShared ? [] : [{ path: 'saved.buffer', part: this.buffer, saved: buffer }];
    const taken = await takeOverParts(where, parts, network, () => {
      if (isShared) restorePart(`${where}: saved.buffer`, () => this.buffer.restore(buffer));
      this.checkHeld(where);
    });
    const before = { updates: this.updates, isPretrained: this.isPretrained };
    this.updates = saved['updates'] as number;
    this.isPretrained = saved['isPretrained'] as boolean;
    return withFields(taken, () => Object.assign(this, before));
  }

  dispose(): void {
    this.network.dispose();
  }

  /** Refuses histories of another game. */
  private checkHeld(where: string): void {
    if (this.buffer.size === 0) return;
    const { observation, actions, agents } = this.setup.game;
    const column = (dtype: DType, ...shape: readonly number[]) => ({ dtype, shape });
    const seen = Object.entries(observation).map(([name, { dtype, shape }]) => {
      return [`observations/${name}`, column(dtype, ...shape)] as const;
    });
    const expected: RowSpec = {
      ...Object.fromEntries(seen),
      ...{ masks: column('uint8', actions), previousActions: column('int32', agents.length) },
      ...{ actions: column('int32'), coPlayer: column('int32'), left: column('uint8'), values: column('float32') },
    };
    checkRowSpec(`${where}: saved.buffer.ring.rows`, expected, this.buffer.rows([]));
  }

  private where(method: string): string {
    return `OMG (${this.id}).${method}`;
  }

  private checkView(view: OwnView): void {
    const { game } = this.setup;
    const where = this.where('infer');
    checkRecord(where, 'view', view);
    const { rows, observations, previousActions, isFirst } = view;
    checkCount(where, 'view.rows', rows);
    checkObservationArrays(where, 'view.observations', game, observations, rows);
    checkTypedArray(where, 'view.previousActions', previousActions, 'int32', rows * game.agents.length);
    checkTypedArray(where, 'view.isFirst', isFirst, 'uint8', rows);
  }

  private checkSubgoalsOf(experience: Experience, options: SubgoalsOfOptions): void {
    const where = this.where('subgoalsOf');
    checkExperienceOf(where, this.setup.game, experience);
    const { generator, values } = checkOptions(where, subgoalsOfSchema, options);
    checkGenerator(where, generator);
    if (values !== undefined) checkTypedArray(where, 'values', values, 'float32', experience.rewards.length);
  }

  private async tidy(): Promise<void> {
    this.network.tidy(0);
    const { groups } = this.network;
    for (const group of ['vae', 'inference'] as const) {
      const bad = findNonFinite(await groups[group].read());
      if (bad) throw new NonFiniteError(`OMG (${this.id})`, `the parameter ${group}/${bad}`, {});
    }
  }
}
