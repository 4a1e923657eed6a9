import type { SequenceReplay, SequenceSample } from '@coplay/buffers';
import {
  type ActionSpaces,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  type NDArray,
  ndarray,
  type SavedState,
  show,
} from '@coplay/core';
import { checkArgument, checkCount, checkGenerator, namedArrays, ndarrays, typedArrays } from '@coplay/core/checks';
import { mapColumns } from '@coplay/core/rows';
import { learningRate } from '@coplay/tensor';
import { z } from 'zod';
import { findNonFinite, type Learner, type LearnerData, NonFiniteError } from '../training';
import { anneal } from '../training/annealed';
import { checkLearnerData } from '../training/check-calls';
import { meanMetrics } from '../training/metrics';
import { checkNetworks } from '../training/own-networks';
import { type Takeover, withFields } from '../training/restore';
import { type DreamerNetwork, dreamerNetwork, nonFinite } from './algorithm';
import { batchInputs, imaginationNoise, posteriorNoise } from './data';
import { type OpenLoop, type OpenLoopOptions, openLoop } from './open-loop';
import { createReplay, pushExperience, restoredReplay, storeLatents, streamsOf } from './replay';
import type { DreamerSetup } from './setup';

/** The compiled updates. */
type UpdateKind = 'joint' | 'coupled' | 'world' | 'behaviour';

/** Updates between flushes of denormal numbers, which slow down every operation that meets them. */
const FLUSH_EVERY = 64;

/** Posterior states of B sequences of T steps. */
export interface DreamerStates {
  /** [B, T, D] float32 */
  readonly deter: NDArray;
  /** [B, T, S] int32, the classes of the latents */
  readonly stoch: NDArray;
  /** [B, T, M] 1 for co-players who act there, where they are modelled */
  readonly coPlayersActive?: NDArray | undefined;
}

const statesSchema = z.looseObject({ deter: ndarrays, stoch: ndarrays, coPlayersActive: ndarrays.optional() });
const counted = z.int().min(0);
const savedSchema = z.looseObject({
  arrays: z.looseObject({}),
  replay: z
    .looseObject({ buffer: z.looseObject({ rows: namedArrays, pushed: typedArrays('float64') }) })
    .nullable()
    .optional(),
  streams: counted.optional(),
  updates: counted,
  behaviourUpdates: counted,
  due: z.number().min(0).lt(1),
  hasBegun: z.boolean(),
});

/** DreamerV3 (Hafner et al. 2023) for one agent, or for several that share weights. */
export class DreamerLearner implements Learner {
  readonly name: string;
  readonly offPolicy = 'any'; // its policy learns from imagined steps, its world model from those of any policy
  /** Updates done so far, of world model and actor-critic each. */
  updates = 0;
  readonly network: DreamerNetwork;
  private replay: SequenceReplay | undefined;
  private streams = 0;
  /** Updates that are due, with the fraction that is carried on. */
  private due = 0;
  private hasBegun = false;
  private behaviourUpdates = 0;
  /** Of the training, in [0, 1], as the last update was told */
  private progress = 0;
  /** The share of the step size that an update has: it rises from 0 to 1 over the warm-up. */
  private readonly warmth: (update: number) => number;

  constructor(readonly setup: DreamerSetup) {
    this.name = setup.ids.length === 1 ? setup.ids[0] : 'shared';
    this.network = dreamerNetwork(setup, this.name);
    this.warmth = learningRate({ rate: 1, warmUp: setup.options.warmUp });
  }

  get ids() {
    return this.setup.ids;
  }

  get config() {
    return this.setup.config;
  }

  async initialise(generator: Generator): Promise<void> {
    this.network.initialise(generator);
  }

  /**
   * Copies of the present parameters, named `enc/...`, `dyn/...`, `dec/...`, `rew/...`, `con/...`, `pol/...`,
   * `val/...`.
   */
  async parameters(): Promise<NamedArrays> {
    const { world, behaviour } = this.network.groups;
    return { ...(await world.read()), ...(await behaviour.read()) };
  }

  async update(data: LearnerData<ActionSpaces>): Promise<Metrics> {
    checkLearnerData(this.where('update'), this.setup.game, data, 'any');
    const { experience, progress, generator } = data;
    this.progress = progress;
    const replay = this.replayOf(experience.envs * this.ids.length);
    const played = pushExperience(this.setup, this.name, replay, experience);
    const learned = await this.train(this.updatesDue(played, replay), generator);
    return {
      ...learned,
      'replay/steps': replay.size,
      'replay/waiting': replay.waiting,
      'opt/updates': this.updates,
    };
  }

  /**
   * Runs updates of the schedule on the replay's content, at the progress of the last {@link update}.
   *
   * @returns the means of their metrics
   */
  async train(updates: number, generator: Generator): Promise<Metrics> {
    checkCount(this.where('train'), 'updates', updates);
    checkGenerator(this.where('train'), generator);
    const { schedule } = this.setup.options;
    const log: Metrics[] = [];
    const kinds = schedule === 'separate' ? (['world', 'behaviour'] as const) : [schedule];
    for (const kind of kinds) {
      for (let update = 0; update < updates; update++) await this.updateOnBatch(kind, generator, log);
    }
    return meanMetrics(log);
  }

  /**
   * One update of the world model on a sampled batch, for any schedule.
   *
   * @returns the posterior states that it met, for {@link trainBehaviour}
   */
  async trainWorldModel(generator: Generator): Promise<{ readonly metrics: Metrics; readonly states: DreamerStates }> {
    checkGenerator(this.where('trainWorldModel'), generator);
    const log: Metrics[] = [];
    const { inputs, outputs } = await this.updateOnBatch('world', generator, log);
    const { deter, stoch } = outputs;
    return { metrics: meanMetrics(log), states: { deter, stoch, coPlayersActive: inputs['coPlayersActive'] } };
  }

  /**
   * One update of actor and critic, for any schedule. Imagines from the last `starts` states of each sequence; without
   * `states`, samples and encodes a batch, from whose recorded rewards the critic learns too.
   */
  async trainBehaviour(generator: Generator, states?: DreamerStates): Promise<Metrics> {
    checkGenerator(this.where('trainBehaviour'), generator);
    const log: Metrics[] = [];
    if (states === undefined) await this.updateOnBatch('behaviour', generator, log);
    else {
      this.checkStates(states);
      const { nets, options } = this.setup;
      const [B, T] = states.deter.shape;
      const noise = imaginationNoise(nets, generator, B * Math.min(options.starts, T), options.horizon);
      const given = { fromDeter: states.deter, fromStoch: states.stoch, ...coPlayersOf(nets, states) };
      await this.run('behaviour', { ...given, ...noise }, undefined, log);
    }
    return meanMetrics(log);
  }

  /**
   * The world model's predictions of recorded sequences: reconstructions of the steps that it sees, and imagined steps
   * under the recorded actions. Changes nothing that is learned or replayed.
   *
   * @param generator not the run's own: the numbers drawn from it would be missing there
   */
  async openLoop(generator: Generator, options: OpenLoopOptions = {}): Promise<OpenLoop> {
    checkGenerator(this.where('openLoop'), generator);
    return openLoop(this.setup, this.network.functions, this.filled(), generator, options);
  }

  async state(): Promise<SavedState> {
    return {
      arrays: await this.network.read(),
      ...(Object.keys(this.setup.networks).length > 0 && { networks: this.setup.networks }),
      replay: this.replay?.state() ?? null,
      streams: this.streams,
      updates: this.updates,
      behaviourUpdates: this.behaviourUpdates,
      due: this.due,
      hasBegun: this.hasBegun,
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for learners that consist of several. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const where = `DreamerV3 (${this.name}): restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    checkNetworks(where, this.setup.networks, saved['networks']);
    const kept = saved['replay'] as SavedState | undefined;
    const replay = kept ? restoredReplay(`DreamerV3 (${this.name})`, this.setup, kept, saved['streams']) : undefined;
    const taken = this.network.takeOver(where, 'saved.arrays', saved['arrays'] as SavedState);
    const before = {
      ...{ replay: this.replay, streams: this.streams, due: this.due, hasBegun: this.hasBegun },
      ...{ updates: this.updates, behaviourUpdates: this.behaviourUpdates },
    };
    this.replay = replay;
    this.streams = kept ? streamsOf(kept) : ((saved['streams'] ?? 0) as number);
    this.updates = saved['updates'] as number;
    this.behaviourUpdates = saved['behaviourUpdates'] as number;
    this.due = saved['due'] as number;
    this.hasBegun = saved['hasBegun'] as boolean;
    return withFields(taken, () => Object.assign(this, before));
  }

  dispose(): void {
    this.network.dispose();
  }

  private where(method: string): string {
    return `DreamerV3 (${this.name}).${method}`;
  }

  /** Refuses states of other networks. */
  private checkStates(states: DreamerStates): void {
    const { nets } = this.setup;
    const where = this.where('trainBehaviour');
    checkArgument(where, 'states', statesSchema, states);
    const [B, T] = states.deter.shape;
    const sizes = { deter: nets.sizes.deter, stoch: nets.sizes.stoch, coPlayersActive: nets.coPlayers?.count };
    for (const name of ['deter', 'stoch', 'coPlayersActive'] as const) {
      const shape = states[name]?.shape;
      const expected = [B, T, sizes[name]];
      if (!shape || (B > 0 && T > 0 && shape.join() === expected.join())) continue;
      fail(`${where}: states.${name}`, `the shape [${expected}]`, show(shape), 'Give states of trainWorldModel().');
    }
  }

  /** The replay, made when the number of environments is known. */
  private replayOf(streams: number): SequenceReplay {
    this.replay ??= createReplay(`DreamerV3 (${this.name})`, this.setup, streams);
    if (this.streams !== 0 && this.streams !== streams) {
      const expected = `experience of ${this.streams} streams`;
      fail(`DreamerV3 (${this.name})`, expected, String(streams), 'Keep the number of environments.');
    }
    this.streams = streams;
    return this.replay;
  }

  /** Updates after so many more steps; one at once when there's enough to begin, as in DreamerV3's code. */
  private updatesDue(played: number, replay: SequenceReplay): number {
    const { trainRatio, updatesPerPhase, startAfter, batchSize, sequenceLength } = this.setup.options;
    if (replay.windows < startAfter) return 0;
    if (updatesPerPhase !== undefined) return updatesPerPhase;
    this.due = this.hasBegun ? this.due + (played * trainRatio) / (batchSize * sequenceLength) : 1;
    this.hasBegun = true;
    const updates = Math.floor(this.due);
    this.due -= updates;
    return updates;
  }

  /** One compiled update on a sampled batch; metrics are added to the log. */
  private async updateOnBatch(kind: UpdateKind, generator: Generator, log: Metrics[]) {
    const { nets, options } = this.setup;
    const { batchSize: B, sequenceLength: T, starts, horizon, replayLatents } = options;
    const sample = this.filled().sample(generator, B);
    log.push({ 'replay/fresh': sample.fresh / B });
    const inputs: NamedArrays = {
      ...batchInputs(sample, replayLatents),
      ...posteriorNoise(nets, generator, B, T),
      ...(kind !== 'world' && imaginationNoise(nets, generator, B * starts, horizon)),
    };
    return { inputs, outputs: await this.run(kind, inputs, sample, log) };
  }

  private filled(): SequenceReplay {
    const remedy = 'Call update with experience first.';
    return this.replay ?? fail(`DreamerV3 (${this.name})`, 'experience', 'none yet', remedy);
  }

  /** One compiled update; returns the posterior states that it met, where it met any. */
  private async run(
    kind: UpdateKind,
    inputs: NamedArrays,
    sample: SequenceSample | undefined,
    log: Metrics[],
  ): Promise<NamedArrays> {
    const { network, progress } = this;
    const { options } = this.setup;
    const update = kind === 'behaviour' ? this.behaviourUpdates : this.updates;
    const rate = this.warmth(update) * anneal(options.learningRate, progress);
    const entropyScale = anneal(options.entropyScale, progress);
    const ofBehaviour = kind !== 'world' && { entropyScale: scalar(entropyScale) };
    const feeds = { ...inputs, learningRate: scalar(rate), ...ofBehaviour };
    const { deter, stoch, ...outputs } = (await network.functions[kind](feeds)) as NamedArrays;
    const bad = nonFinite(outputs);
    if (bad) this.refuse(bad, outputs, feeds);
    else if (deter && sample && options.replayLatents) storeLatents(this.filled(), sample, deter, stoch);
    log.push({
      ...{ 'opt/learning_rate': rate, 'opt/skipped': bad ? 1 : 0 },
      ...(!bad && mapColumns(outputs, ({ data }) => data[0])), // a skipped update has no metrics
      ...(ofBehaviour && { 'dreamer/entropy_scale': entropyScale }),
    });
    if (kind !== 'behaviour') this.updates++;
    if (kind !== 'world') this.behaviourUpdates++;
    network.tidy(kind === 'behaviour' ? this.behaviourUpdates : this.updates, FLUSH_EVERY);
    return deter ? { deter, stoch } : {};
  }

  private refuse(bad: string, outputs: NamedArrays, inputs: NamedArrays): void {
    if (this.setup.options.nonFinite === 'skip') return;
    const given = findNonFinite(inputs);
    const came = `${bad} = ${outputs[bad].data[0]}, from ${given ? `the input ${given}` : 'finite inputs'}`;
    throw new NonFiniteError(`DreamerV3 (${this.name}), update ${this.updates + 1}`, came, inputs);
  }
}

function scalar(value: number): NDArray {
  return ndarray(Float32Array.of(value), []);
}

/** Who acts in states that are given; without a word of it all co-players do. */
function coPlayersOf({ coPlayers }: DreamerSetup['nets'], { deter, coPlayersActive }: DreamerStates): NamedArrays {
  if (!coPlayers) return {};
  const shape = [...deter.shape.slice(0, 2), coPlayers.count];
  return { coPlayersActive: coPlayersActive ?? ndarray(new Uint8Array(shape[0] * shape[1] * shape[2]).fill(1), shape) };
}
