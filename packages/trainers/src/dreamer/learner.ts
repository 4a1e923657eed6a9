import { createSequenceReplay, type SequenceReplay, type SequenceSample } from '@coplay/buffers';
import {
  checkArgument,
  checkCount,
  checkGenerator,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  type NDArray,
  namedArrays,
  ndarray,
  ndarrays,
  type SavedState,
  show,
  typedArrays,
} from '@coplay/core';
import { learningRate } from '@coplay/tensor';
import { z } from 'zod';
import { findNonFinite, type Learner, type LearnerData, NonFiniteError } from '../training';
import { anneal } from '../training/annealed';
import { checkLearnerData } from '../training/check-calls';
import type { Takeover } from '../training/restore';
import { type DreamerNetwork, dreamerNetwork, nonFinite } from './network';
import { imaginationNoise, posteriorNoise } from './noise';
import { type OpenLoop, type OpenLoopOptions, openLoop } from './open-loop';
import { batchInputs, checkReplay, pushExperience, storeLatents, streamsOf } from './replay';
import { coupledUpdates, type ScheduleParts, separateUpdates, type UpdateKind } from './schedules';
import type { DreamerSetup } from './setup';
import { Tally } from './tally';

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
  private readonly rate: (update: number) => number;

  constructor(readonly setup: DreamerSetup) {
    this.name = setup.ids.length === 1 ? setup.ids[0] : 'shared';
    this.network = dreamerNetwork(setup, this.name);
    const { learningRate: rate, warmUp } = setup.options;
    this.rate = learningRate({ rate, warmUp });
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

  async update(data: LearnerData): Promise<Metrics> {
    checkLearnerData(this.where('update'), this.setup.game, data);
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
   * Runs `count` updates of the schedule on the replay's content, at the progress of the last {@link update}; returns
   * the means of their metrics.
   */
  async train(updates: number, generator: Generator): Promise<Metrics> {
    checkCount(this.where('train'), 'updates', updates);
    checkGenerator(this.where('train'), generator);
    const tally = new Tally();
    const parts = this.scheduleParts(tally);
    const { schedule } = this.setup.options;
    if (schedule === 'separate') await separateUpdates(parts, updates, generator);
    else await coupledUpdates(parts, schedule, updates, generator);
    return tally.means();
  }

  /**
   * One update of the world model on a sampled batch, for any schedule.
   *
   * @returns the posterior states that it met, for {@link trainBehaviour}
   */
  async trainWorldModel(generator: Generator): Promise<{ readonly metrics: Metrics; readonly states: DreamerStates }> {
    checkGenerator(this.where('trainWorldModel'), generator);
    const tally = new Tally();
    const parts = this.scheduleParts(tally);
    const { sample, inputs } = parts.sample(generator);
    const { deter, stoch } = await parts.run('world', inputs, sample);
    return { metrics: tally.means(), states: { deter, stoch, coPlayersActive: inputs['coPlayersActive'] } };
  }

  /**
   * One update of actor and critic, for any schedule. Imagines from the last `starts` states of each sequence; without
   * `states`, samples and encodes a batch, from whose recorded rewards the critic learns too.
   */
  async trainBehaviour(generator: Generator, states?: DreamerStates): Promise<Metrics> {
    checkGenerator(this.where('trainBehaviour'), generator);
    if (states !== undefined) this.checkStates(states);
    const tally = new Tally();
    const parts = this.scheduleParts(tally);
    if (states) {
      const { nets, options } = this.setup;
      const [B, T] = states.deter.shape;
      const noise = imaginationNoise(nets, generator, B * Math.min(options.starts, T), options.horizon);
      const given = { fromDeter: states.deter, fromStoch: states.stoch, ...coPlayersOf(nets, states) };
      await parts.run('behaviour', { ...given, ...noise });
    } else {
      const { sample, inputs } = parts.sample(generator);
      await parts.run('behaviour', { ...inputs, ...parts.imagination(generator) }, sample);
    }
    return tally.means();
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
    const replay = saved['replay'] ? this.restoredReplay(saved['replay'] as SavedState, saved['streams']) : undefined;
    const taken = this.network.takeOver(where, 'saved.arrays', saved['arrays'] as SavedState);
    const before = {
      ...{ replay: this.replay, streams: this.streams, due: this.due, hasBegun: this.hasBegun },
      ...{ updates: this.updates, behaviourUpdates: this.behaviourUpdates },
    };
    this.replay = replay;
    this.streams = replay ? streamsOf(saved['replay']) : ((saved['streams'] ?? 0) as number);
    this.updates = saved['updates'] as number;
    this.behaviourUpdates = saved['behaviourUpdates'] as number;
    this.due = saved['due'] as number;
    this.hasBegun = saved['hasBegun'] as boolean;
    return {
      keep: taken.keep,
      undo: async () => {
        Object.assign(this, before);
        await taken.undo();
      },
    };
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

  /** @param streams  their number in the state; 0 or absent in a state with another learner's replay */
  private restoredReplay(saved: SavedState, streams: unknown): SequenceReplay {
    const where = `DreamerV3 (${this.name})`;
    checkReplay(where, this.setup, saved);
    const found = streamsOf(saved);
    if (streams && streams !== found) {
      fail(
        `${where}: restore: saved.replay.buffer.pushed`,
        `${streams} streams`,
        `${found}`,
        'Give what state() returned.',
      );
    }
    const replay = this.newReplay(found);
    replay.restore(saved);
    return replay;
  }

  private newReplay(streams: number): SequenceReplay {
    const { replayCapacity: capacity, sequenceLength: length, replayOnline: online } = this.setup.options;
    const replay = createSequenceReplay({ capacity, length, online, streams });
    this.checkStart(streams);
    return replay;
  }

  /** The replay, made when the number of environments is known. */
  private replayOf(streams: number): SequenceReplay {
    this.replay ??= this.newReplay(streams);
    if (this.streams !== 0 && this.streams !== streams) {
      const expected = `experience of ${this.streams} streams`;
      fail(`DreamerV3 (${this.name})`, expected, String(streams), 'Keep the number of environments.');
    }
    this.streams = streams;
    return this.replay;
  }

  /** Refuses a replay that can never hold what training waits for. */
  private checkStart(streams: number): void {
    const { replayCapacity, sequenceLength, startAfter } = this.setup.options;
    const windows = streams * (Math.floor(replayCapacity / streams) - sequenceLength + 1);
    if (startAfter <= windows || startAfter > replayCapacity) return;
    const expected = `at most ${windows} windows to wait for, as many as ${replayCapacity} steps in ${streams} streams hold`;
    const remedy = 'Give more replayCapacity, or a lower startAfter.';
    fail(`DreamerV3 (${this.name})`, expected, `startAfter ${startAfter}`, remedy);
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

  private scheduleParts(tally: Tally): ScheduleParts {
    const { nets, options } = this.setup;
    const { batchSize: B, sequenceLength: T, starts, horizon, replayLatents } = options;
    return {
      sample: (generator) => {
        const sample = this.filled().sample(generator, B);
        tally.put('replay/fresh', sample.fresh / B);
        return { sample, inputs: { ...batchInputs(sample, replayLatents), ...posteriorNoise(nets, generator, B, T) } };
      },
      imagination: (generator) => imaginationNoise(nets, generator, B * starts, horizon),
      run: (kind, inputs, sample) => this.run(kind, inputs, sample, tally),
    };
  }

  private filled(): SequenceReplay {
    const remedy = 'Call update with experience first.';
    return this.replay ?? fail(`DreamerV3 (${this.name})`, 'experience', 'none yet', remedy);
  }

  /** One compiled update; returns the posterior states that it met. */
  private async run(
    kind: UpdateKind,
    inputs: NamedArrays,
    sample: SequenceSample | undefined,
    tally: Tally,
  ): Promise<NamedArrays> {
    const { network } = this;
    const rate = this.rate(kind === 'behaviour' ? this.behaviourUpdates : this.updates);
    const entropyScale = anneal(this.setup.options.entropyScale, this.progress);
    const ofBehaviour = kind !== 'world' && { entropyScale: scalar(entropyScale) };
    const feeds = { ...inputs, learningRate: scalar(rate), ...ofBehaviour };
    const { deter, stoch, ...outputs } = (await network.functions[kind](feeds)) as NamedArrays;
    const bad = nonFinite(outputs);
    if (bad) this.refuse(bad, outputs, feeds);
    else if (deter && sample && this.setup.options.replayLatents) storeLatents(this.filled(), sample, deter, stoch);
    tally.add(outputs, rate, bad !== undefined);
    if (ofBehaviour) tally.put('dreamer/entropy_scale', entropyScale);
    if (kind !== 'behaviour') this.updates++;
    if (kind !== 'world') this.behaviourUpdates++;
    const done = kind === 'behaviour' ? this.behaviourUpdates : this.updates;
    network.tidy(done, FLUSH_EVERY);
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
