import { createPpoBuffer, type PpoBuffer } from '@coplay/buffers';
import {
  checkArgument,
  checkExperienceOf,
  checkGenerator,
  createValueNorm,
  type Experience,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  type NDArray,
  namedArrays,
  ndarray,
  normaliseAdvantages,
  type SavedState,
  sharedAmongCopies,
  typedArrays,
  type ValueNorm,
} from '@coplay/core';
import { z } from 'zod';
import { findNonFinite, type Learner, type LearnerData, type Lockstep, NonFiniteError } from '../training';
import { anneal } from '../training/annealed';
import { checkLearnerData } from '../training/check-calls';
import { type Takeover, takeOverParts } from '../training/restore';
import { checkFinite } from '../training/saved-arrays';
import { ppoRows } from './batch';
import { enteringStates, lastStates } from './critic';
import { runEpochs } from './epochs';
import { dataMetrics, imaginedMetrics } from './metrics';
import { freshNetworks, joinNetworks, kindOf, type PpoNetworks, savedNetworks } from './networks';
import { chosenRewards } from './rewards';
import { putSeat } from './rows';
import type { PpoSetup } from './setup';
import { imaginedTargets, ppoTargets, type Targets } from './targets';

/** Learners of all copies of the package that call themselves so work together. */
const VERSION = '@coplay/trainers/PpoLearner@0.1';

/** What the critic made of an experience. */
interface Judgement {
  /** [E, T, A] in the unit of returns */
  readonly values: Float32Array;
  /** [E, T, A] as the network gave them: the same, unless values are normalised */
  readonly predictions: Float32Array;
  /** [N, A] */
  readonly cutValues: Float32Array;
  /** By seat: [E T, stateSize] in which the critic entered each step; recurrent networks only */
  readonly states: Map<number, NDArray>;
}

/** Updates between flushes of denormal numbers: it takes hundreds of steps without a gradient to get there. */
const FLUSH_EVERY = 8;

const savedSchema = z.looseObject({
  params: namedArrays,
  slots: namedArrays,
  updates: z.int().min(0),
  valueNorm: z.looseObject({}),
  buffer: z.looseObject({}),
  criticStates: z.record(z.string(), typedArrays('float32')),
});

/** PPO (Schulman et al. 2017) for one agent, or for several that share weights. */
export class PpoLearner implements Learner {
  readonly name: string;
  updates = 0;
  private networks: PpoNetworks | undefined;
  private isDisposed = false;
  private readonly buffer: PpoBuffer;
  private readonly valueNorm: ValueNorm = createValueNorm();
  /** By seat, the recurrent critic's state after the last step that was seen. */
  private criticStates: ReadonlyMap<number, Float32Array> = new Map();

  constructor(readonly setup: PpoSetup) {
    this.name = setup.ids.length === 1 ? setup.ids[0] : 'shared';
    this.buffer = createPpoBuffer({ agents: setup.ids });
  }

  get ids() {
    return this.setup.ids;
  }

  get config() {
    return this.setup.config;
  }

  get lockstep(): Lockstep<PpoLearner> | undefined {
    const kind = kindOf(this.setup);
    if (kind === undefined) return undefined;
    const join = (learners: readonly PpoLearner[]) => {
      const networks = learners.map((learner) => learner.ready());
      joinNetworks(this.setup, networks);
    };
    return { kind: `${VERSION} ${kind}`, networks: this.ready(), join };
  }

  async initialise(generator: Generator): Promise<void> {
    checkGenerator(`PPO (${this.name}).initialise`, generator);
    if (this.isDisposed) {
      const remedy = 'Make a new agent, or give this one parameters with learner.restore(saved).';
      fail(`PPO (${this.name})`, 'a learner in use', 'one that was disposed with its run', remedy);
    }
    this.networks ??= await freshNetworks(this.setup, generator);
  }

  /** The running networks. */
  ready(): PpoNetworks {
    return (
      this.networks ??
      fail(
        `PPO (${this.name})`,
        'parameters',
        'none yet',
        'Call learner.initialise(generator) or restore first; selfPlay does.',
      )
    );
  }

  /** Copies of the present parameters, named `actor/...` and `critic/...`. */
  parameters(): Promise<NamedArrays> {
    return this.ready().params.read();
  }

  /** [E, T, A] the present critic's values of what this learner's agents saw; for feedforward networks. */
  async values(experience: Experience): Promise<Float32Array> {
    checkExperienceOf(`PPO (${this.name}).values`, this.setup.game, experience);
    return (await this.judge(experience)).values;
  }

  async update(data: LearnerData): Promise<Metrics> {
    checkLearnerData(`PPO (${this.name}).update`, this.setup.game, data);
    const { experience, imagined = [], progress, generator } = data;
    this.buffer.clear(); // whatever an update that failed left behind
    const real = await this.take(experience);
    const made = imagined.length > 0 ? await this.takeImagined(imagined) : {};
    const learned = await this.learn(experience.steps, progress, generator);
    await this.checkParameters();
    if (this.updates % FLUSH_EVERY === 0) this.ready().slots.flushDenormals();
    this.buffer.clear(); // checkpoints needn't hold it
    this.updates++;
    return { ...real, ...made, ...learned };
  }

  /** Puts an experience's rows into the buffer. */
  private async take(experience: Experience): Promise<Metrics> {
    const { options, reward } = this.setup;
    const judged: Experience = { ...experience, rewards: chosenRewards(reward, experience, options.gamma) };
    const judgement = await this.judge(judged);
    const targets = ppoTargets(judged, judgement.values, judgement.cutValues, options);
    this.fill(judged, judgement, imaginedTargets(judged, judgement, targets, options));
    return dataMetrics(judged, this.seats(), judgement.values, targets);
  }

  private async takeImagined(imagined: readonly Experience[]): Promise<Metrics> {
    if (this.setup.net.stateSize > 0) {
      const remedy = 'Use a feedforward network, or no imagined data.';
      fail(`PPO (${this.name})`, 'a feedforward network for imagined data', 'a recurrent one', remedy);
    }
    const metrics: Metrics[] = [];
    for (const experience of imagined) metrics.push(await this.take(experience));
    return imaginedMetrics(metrics);
  }

  async state(): Promise<SavedState> {
    const { params, slots } = this.ready();
    return {
      params: await params.read(),
      slots: await slots.read(),
      updates: this.updates,
      valueNorm: this.valueNorm.state(),
      buffer: this.buffer.state(),
      criticStates: Object.fromEntries(this.criticStates),
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for what is made of several learners. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const where = `PPO (${this.name}): restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    const criticStates = saved['criticStates'] as Readonly<Record<string, Float32Array>>;
    this.checkCriticStates(`${where}: saved.criticStates`, criticStates);
    const networks = await savedNetworks(this.setup, saved);
    const valueNorm = { path: 'saved.valueNorm', part: this.valueNorm, saved: saved['valueNorm'] as SavedState };
    const buffer = { path: 'saved.buffer', part: this.buffer, saved: saved['buffer'] as SavedState };
    const taken = await takeOverParts(where, [valueNorm, buffer], networks);
    const before = {
      ...{ networks: this.networks, isDisposed: this.isDisposed },
      ...{ updates: this.updates, criticStates: this.criticStates },
    };
    this.networks = networks;
    this.isDisposed = false;
    this.updates = saved['updates'] as number;
    this.criticStates = new Map(Object.entries(criticStates).map(([seat, state]) => [Number(seat), state]));
    return {
      keep: () => before.networks?.dispose(),
      undo: async () => {
        networks.dispose();
        Object.assign(this, before);
        await taken.undo();
      },
    };
  }

  /** Refuses critic states of other seats or of another size. There are none before the first update, nor without recurrence. */
  private checkCriticStates(where: string, states: Readonly<Record<string, Float32Array>>): void {
    const [seats, given] = [this.seats().map(String).sort(), Object.keys(states).sort()];
    const remedy = 'Give what state() returned.';
    if (given.length > 0 && seats.join() !== given.join())
      fail(where, `seats ${seats.join(', ')}`, given.join(', '), remedy);
    const size = this.setup.net.stateSize;
    for (const [seat, state] of Object.entries(states)) {
      if (state.length > 0 && state.length % size === 0) continue;
      fail(`${where}.${seat}`, `${size} numbers for each environment`, `${state.length} numbers`, remedy);
    }
    checkFinite(where, Object.fromEntries(Object.entries(states).map(([seat, state]) => [seat, ndarray(state)])));
  }

  dispose(): void {
    this.networks?.dispose();
    this.networks = undefined;
    this.isDisposed = true;
  }

  private seats(): number[] {
    return this.setup.ids.map((id) => this.setup.game.agents.indexOf(id));
  }

  /** The critic's values of everything that this learner's agents saw. */
  private async judge(experience: Experience): Promise<Judgement> {
    const { critic } = this.ready();
    const { options, net } = this.setup;
    const agents = experience.agents.length;
    const values = new Float32Array(experience.rewards.length);
    const predictions = new Float32Array(experience.rewards.length);
    const cutValues = new Float32Array(experience.cuts.env.length * agents);
    const states = new Map<number, NDArray>();
    const inReturns = (raw: Float32Array) => (options.normaliseValues ? this.valueNorm.denormalise(raw) : raw);
    const judgeSeat = async (seat: number): Promise<void> => {
      const start = this.criticStates.get(seat) ?? new Float32Array(experience.envs * net.stateSize);
      const judged = await critic.value(experience, seat, start);
      putSeat(predictions, seat, agents, judged.values);
      putSeat(values, seat, agents, inReturns(judged.values));
      putSeat(cutValues, seat, agents, inReturns(judged.cutValues));
      if (judged.states) {
        states.set(seat, enteringStates(judged.states, start));
        this.criticStates = new Map(this.criticStates).set(seat, lastStates(judged.states));
      }
    };
    await Promise.all(this.seats().map(judgeSeat)); // at once, so that the seats' rows run as one batch
    return { values, predictions, cutValues, states };
  }

  /** Puts the rows of this learner's agents into the buffer. */
  private fill(experience: Experience, { predictions, states }: Judgement, targets: Targets): void {
    const { net, actorEncoder, criticEncoder, game } = this.setup;
    const normalised = this.normalised(experience, targets);
    const sequenceLength = this.sequenceLength(experience.steps);
    const parts = { net, actorEncoder, criticEncoder, sequenceLength, options: this.setup.options };
    for (const seat of this.seats()) {
      const criticStates = states.get(seat);
      const data = { experience, seat, values: predictions, targets: normalised };
      this.buffer.push(game.agents[seat], ppoRows(parts, criticStates ? { ...data, criticStates } : data));
    }
  }

  /** The targets as they are learned: returns in the unit that the critic predicts; its normaliser sees them first. */
  private normalised(experience: Experience, { advantages, returns }: Targets): Targets {
    const { options } = this.setup;
    if (!options.normaliseValues && options.normaliseAdvantages !== 'update') return { advantages, returns };
    const seats = this.seats();
    const own = experience.active.map((active, row) => (seats.includes(row % experience.agents.length) ? active : 0));
    if (options.normaliseValues) this.valueNorm.update(returns, own);
    return {
      // Once per update as in MAPPO's code; per minibatch it's done when that is drawn.
      advantages:
        options.normaliseAdvantages === 'update'
          ? normaliseAdvantages(advantages, own, { ddof: 0, epsilon: 1e-5 })
          : advantages,
      returns: options.normaliseValues ? this.valueNorm.normalise(returns) : returns,
    };
  }

  private learn(steps: number, progress: number, generator: Generator): Promise<Metrics> {
    const { options, net } = this.setup;
    return runEpochs(
      {
        where: `PPO (${this.name}), update ${this.updates + 1}`,
        buffer: this.buffer,
        update: this.ready().functions.update,
        options,
        settings: {
          ...options,
          realRatio: anneal(options.realRatio, progress),
          minibatchSize: options.minibatchSize * this.ids.length,
          stepsPerRow: net.stateSize > 0 ? this.sequenceLength(steps) : 1,
        },
        annealed: {
          learningRate: anneal(options.learningRate, progress),
          entropyWeight: anneal(options.entropyWeight, progress),
          clip: anneal(options.clip, progress),
        },
      },
      generator,
    );
  }

  /** L, for recurrent networks. */
  private sequenceLength(steps: number): number {
    const { sequenceLength = steps } = this.setup.options;
    if (steps % sequenceLength !== 0) {
      fail(
        'ppo.update',
        `rollouts of a multiple of ${sequenceLength} steps`,
        String(steps),
        'Change sequenceLength or steps.',
      );
    }
    return sequenceLength;
  }

  private async checkParameters(): Promise<void> {
    const bad = findNonFinite(await this.ready().params.read());
    if (bad) throw new NonFiniteError(`PPO (${this.name}), update ${this.updates + 1}`, `the parameter ${bad}`, {});
  }
}

sharedAmongCopies(PpoLearner, VERSION);
