import { createPpoBuffer, type PpoBuffer } from '@coplay/buffers';
import {
  type ActionSpaces,
  type AgentId,
  type AgentInput,
  createValueNorm,
  type Experience,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  type NDArray,
  ndarray,
  normaliseAdvantages,
  type SavedState,
  type ValueNorm,
} from '@coplay/core';
import {
  checkAgentInput,
  checkArgument,
  checkExperienceOf,
  checkNumber,
  checkRecord,
  namedArrays,
  sharedAmongCopies,
  typedArrays,
} from '@coplay/core/checks';
import { paddedCount, padRows, putSeat, seatRows } from '@coplay/core/rows';
import { actingRows, experienceRows } from '@coplay/models';
import { prefixed } from '@coplay/models/layers';
import { z } from 'zod';
import { findNonFinite, type Learner, type LearnerData, type Lockstep, NonFiniteError } from '../training';
import { anneal } from '../training/annealed';
import { checkLearnerData } from '../training/check-calls';
import { type Takeover, takeOverParts, withFields } from '../training/restore';
import { checkFinite } from '../training/saved-arrays';
import { createPolicy, evaluateSeat, type Policy } from './actor-critic';
import { imaginedTargets, ppoTargets, type Targets, type Valuation } from './algorithm';
import {
  createTable,
  encodeSeat,
  fillPolicyTarget,
  fillSeat,
  fillStates,
  learnedRows,
  type RowTable,
  type SeatRows,
} from './data';
import { runEpochs } from './epochs';
import { dataMetrics, imaginedMetrics } from './metrics';
import { ObservationStatistics, RewardStatistics } from './normalisation';
import { chosenRewards } from './options';
import { joinNetworks, kindOf, type PpoNetwork, type PpoSetup, ppoNetwork } from './setup';

/** Learners of all copies of the package that call themselves so work together. */
const VERSION = '@coplay/trainers/PpoLearner@0.1';

/** The critic's values of an experience. */
interface CriticValuation extends Valuation {
  /** [E, T, A] as the network gave them: the values, unless these are normalised */
  readonly predictions: Float32Array;
  /** By seat: [E T, stateSize] in which the critic entered each step; recurrent networks only */
  readonly states: ReadonlyMap<number, NDArray>;
}

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
  readonly offPolicy = 'log-probs';
  updates = 0;
  readonly network: PpoNetwork;
  /** From its agents' observations to the numbers of their policy, by the present parameters. */
  readonly policy: Policy;
  private readonly buffer: PpoBuffer;
  private readonly valueNorm: ValueNorm = createValueNorm();
  private readonly observations: ObservationStatistics;
  private readonly rewards: RewardStatistics;
  /** By seat, the recurrent critic's state after the last step that was seen. */
  private criticStates: ReadonlyMap<number, Float32Array> = new Map();

  constructor(readonly setup: PpoSetup) {
    this.name = setup.ids.length === 1 ? setup.ids[0] : 'shared';
    this.network = ppoNetwork(setup, this.name);
    this.policy = createPolicy(setup, () => this.network.functions.act);
    this.buffer = createPpoBuffer({ agents: setup.ids });
    this.observations = new ObservationStatistics(setup.normalised);
    this.rewards = new RewardStatistics(setup.options.gamma);
  }

  get ids(): readonly AgentId[] {
    return this.setup.ids;
  }

  get config() {
    return this.setup.config;
  }

  /** What rewards are divided by; 1 without `normaliseRewards`. */
  get rewardDeviation(): number {
    return this.rewards.deviation;
  }

  get lockstep(): Lockstep<PpoLearner> | undefined {
    const kind = kindOf(this.setup);
    if (kind === undefined) return undefined;
    const join = (learners: readonly PpoLearner[]) => {
      const networks = learners.map(({ network }) => network);
      joinNetworks(this.setup, networks);
    };
    return { kind: `${VERSION} ${kind}`, networks: this.network.groups, join };
  }

  async initialise(generator: Generator): Promise<void> {
    this.network.initialise(generator);
  }

  /** Copies of the present parameters, named `actor/...` and `critic/...`. */
  parameters(): Promise<NamedArrays> {
    return this.network.groups.params.read();
  }

  /** [E, T, A] the present critic's values of what this learner's agents saw; for feedforward networks. */
  async values(experience: Experience<ActionSpaces>): Promise<Float32Array> {
    checkExperienceOf(`PPO (${this.name}).values`, this.setup.game, experience, 'experience', 'any');
    const table = createTable(this.setup, [experience]);
    const { values } = await this.evaluateCritic(experience, this.encode(table, experience));
    return this.inRewards(values);
  }

  /**
   * Actor and critic in B steps, by the present parameters: the policy [B, P], and values [B] in the unit of
   * returns. For feedforward networks whose critic reads the agent's own view.
   *
   * @param extras [B, ...] inputs of the networks in addition to the observation, such as subgoals
   */
  async policyAndValues(
    input: AgentInput<ActionSpaces>,
    seat: number,
    extras: NamedArrays = {},
  ): Promise<{ readonly policy: Float32Array; readonly values: Float32Array }> {
    const { actorEncoder, options, net, game } = this.setup;
    const where = `PPO (${this.name}).policyAndValues`;
    checkNumber(where, 'seat', seat, { min: 0, max: game.agents.length - 1, whole: true });
    checkAgentInput(where, game, input, seat);
    checkRecord(where, 'extras', extras);
    const seen = actorEncoder.encode(actingRows(input, seat, extras));
    const { act, value } = this.network.functions;
    const mask = net.actions > 0 && { mask: ndarray(input.masks, [input.rows, net.actions]) };
    const [{ policy }, { values }] = await Promise.all([
      act({ ...prefixed('actor', seen), ...mask }),
      value(prefixed('critic', seen)),
    ]);
    const raw = values.data as Float32Array;
    return {
      policy: policy.data as Float32Array,
      values: this.inRewards(options.normaliseValues ? this.valueNorm.denormalise(raw) : raw),
    };
  }

  /**
   * The same experience with the log-probabilities that the present policy gives to one seat's actions: for inputs that
   * were changed after acting. For feedforward policies over discrete actions.
   */
  async currentLogProbs(experience: Experience, seat: number): Promise<Experience> {
    const { net, actorEncoder } = this.setup;
    const agents = experience.agents.length;
    const rows = experience.envs * experience.steps;
    const inputs = {
      ...prefixed('actor', actorEncoder.encode(experienceRows(experience, seat))),
      mask: seatRows(experience.masks, seat, agents, [net.actions]),
    };
    const { policy: logProbs } = await this.network.functions.act(padRows(inputs, paddedCount(rows)));
    const actions = seatRows(experience.actions, seat, agents).data;
    const taken = Float32Array.from(actions, (action, row) => (logProbs as NDArray).data[row * net.actions + action]);
    const data = (experience.extras['logProbs'].data as Float32Array).slice();
    putSeat(data, seat, agents, taken);
    const renewed = ndarray(data, experience.extras['logProbs'].shape);
    return { ...experience, extras: { ...experience.extras, logProbs: renewed } };
  }

  /** Values of normalised rewards in the unit of the game's. */
  private inRewards(values: Float32Array): Float32Array {
    const { rewardDeviation } = this;
    return rewardDeviation === 1 ? values : values.map((value) => value * rewardDeviation);
  }

  async update(data: LearnerData<ActionSpaces>): Promise<Metrics> {
    checkLearnerData(`PPO (${this.name}).update`, this.setup.game, data, 'any');
    const { experience, imagined = [], progress, generator } = data;
    this.buffer.clear(); // rows of an update that failed
    const length = this.sequenceLength(experience.steps);
    if (imagined.length > 0) this.checkFeedforward();
    const table = createTable(this.setup, [experience, ...imagined], length);
    const { rows, metrics: real } = await this.take(table, experience);
    const made: Metrics[] = [];
    for (const one of imagined) made.push((await this.take(table, one)).metrics);
    const learned = await this.learn(table, progress, generator);
    await this.addObservations(rows);
    await this.checkParameters();
    this.network.tidy(this.updates);
    this.buffer.clear(); // checkpoints needn't hold it
    this.updates++;
    return { ...real, ...(imagined.length > 0 && imaginedMetrics(made)), ...learned };
  }

  /** Puts an experience's rows into the table, and those to learn from into the buffer. */
  private async take(
    table: RowTable,
    experience: Experience<ActionSpaces>,
  ): Promise<{ readonly rows: readonly SeatRows[]; readonly metrics: Metrics }> {
    const { setup, seats } = this;
    const { options, game, net, policyTarget } = setup;
    const rewarded = this.rewarded(experience);
    const rows = this.encode(table, rewarded);
    const valuation = await this.evaluateCritic(rewarded, rows);
    const targets = ppoTargets(rewarded, valuation.values, valuation.cutValues, options);
    const learned = this.normalised(rewarded, imaginedTargets(rewarded, valuation, targets, options));
    for (const seatRows of rows) {
      fillSeat(setup, seatRows, valuation.predictions, learned);
      if (net.stateSize > 0) fillStates(seatRows, valuation.states.get(seatRows.seat)!);
      const targets = policyTarget && experience.extras[policyTarget.extra];
      if (targets) fillPolicyTarget(seatRows, targets, experience.agents.length);
      this.buffer.push(game.agents[seatRows.seat], learnedRows(setup, seatRows));
    }
    return { rows, metrics: dataMetrics(rewarded, seats, valuation.values, targets) };
  }

  /** The experience with the rewards that are learned from. */
  private rewarded(experience: Experience<ActionSpaces>): Experience<ActionSpaces> {
    const { reward, options } = this.setup;
    const chosen = { ...experience, rewards: chosenRewards(reward, experience, options.gamma) };
    return options.normaliseRewards ? { ...chosen, rewards: this.rewards.scale(chosen, this.seats) } : chosen;
  }

  /** From now on, the networks read observations with the statistics of these rows, too. */
  private async addObservations(rows: readonly SeatRows[]): Promise<void> {
    if (!this.setup.options.normaliseObservations) return;
    for (const { steps, active } of rows) this.observations.add(steps, active);
    const { params } = this.network.groups;
    params.write({ ...(await params.read()), ...this.observations.parameters() });
  }

  private encode(table: RowTable, experience: Experience<ActionSpaces>): SeatRows[] {
    return this.seats.map((seat) => encodeSeat(this.setup, table, experience, seat));
  }

  /** The critic's values of everything that this learner's agents saw. */
  private async evaluateCritic(
    experience: Experience<ActionSpaces>,
    rows: readonly SeatRows[],
  ): Promise<CriticValuation> {
    const { options, net } = this.setup;
    const agents = experience.agents.length;
    const values = new Float32Array(experience.rewards.length);
    const predictions = new Float32Array(experience.rewards.length);
    const cutValues = new Float32Array(experience.cuts.env.length * agents);
    const states = new Map<number, NDArray>();
    const inReturns = (raw: Float32Array) => (options.normaliseValues ? this.valueNorm.denormalise(raw) : raw);
    const evaluate = async (ofSeat: SeatRows): Promise<void> => {
      const { seat } = ofSeat;
      const start = this.criticStates.get(seat) ?? new Float32Array(experience.envs * net.stateSize);
      const evaluated = await evaluateSeat(this.setup, () => this.network.functions.value, ofSeat, start);
      putSeat(predictions, seat, agents, evaluated.values);
      putSeat(values, seat, agents, inReturns(evaluated.values));
      putSeat(cutValues, seat, agents, inReturns(evaluated.cutValues));
      if (!evaluated.states) return;
      states.set(seat, evaluated.states.entered);
      this.criticStates = new Map(this.criticStates).set(seat, evaluated.states.last);
    };
    await Promise.all(rows.map(evaluate)); // at once, so that the seats' rows run as one batch
    return { values, predictions, cutValues, states };
  }

  /** The targets as they are learned: returns in the unit that the critic predicts; its normaliser sees them first. */
  private normalised(experience: Experience<ActionSpaces>, { advantages, returns }: Targets): Targets {
    const { options } = this.setup;
    if (!options.normaliseValues && options.normaliseAdvantages !== 'update') return { advantages, returns };
    const { seats } = this;
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

  private learn(table: RowTable, progress: number, generator: Generator): Promise<Metrics> {
    const { options, policyTarget } = this.setup;
    return runEpochs(
      {
        where: `PPO (${this.name}), update ${this.updates + 1}`,
        buffer: this.buffer,
        columns: table.columns,
        update: this.network.functions.update,
        options,
        settings: {
          ...options,
          realRatio: anneal(options.realRatio, progress),
          minibatchSize: options.minibatchSize * this.ids.length,
          stepsPerRow: table.length,
        },
        annealed: {
          learningRate: anneal(options.learningRate, progress),
          entropyWeight: anneal(options.entropyWeight, progress),
          clip: anneal(options.clip, progress),
          ...(policyTarget && { targetWeight: anneal(policyTarget.weight, progress) }),
        },
      },
      generator,
    );
  }

  async state(): Promise<SavedState> {
    return {
      ...(await this.network.read()),
      updates: this.updates,
      valueNorm: this.valueNorm.state(),
      buffer: this.buffer.state(),
      ...(this.setup.options.normaliseObservations && { observations: this.observations.state() }),
      ...(this.setup.options.normaliseRewards && { rewards: this.rewards.state() }),
      criticStates: Object.fromEntries(this.criticStates),
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for learners that consist of several. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const where = `PPO (${this.name}): restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    const criticStates = saved['criticStates'] as Readonly<Record<string, Float32Array>>;
    this.checkCriticStates(`${where}: saved.criticStates`, criticStates);
    const valueNorm = { path: 'saved.valueNorm', part: this.valueNorm, saved: saved['valueNorm'] as SavedState };
    const buffer = { path: 'saved.buffer', part: this.buffer, saved: saved['buffer'] as SavedState };
    const { normaliseObservations, normaliseRewards } = this.setup.options;
    const statistics = [
      ...(normaliseObservations ? [{ path: 'saved.observations', part: this.observations }] : []),
      ...(normaliseRewards ? [{ path: 'saved.rewards', part: this.rewards }] : []),
    ].map((part) => ({ ...part, saved: saved[part.path.slice('saved.'.length)] as SavedState }));
    const taken = await takeOverParts(
      where,
      [valueNorm, buffer, ...statistics],
      this.network.takeOver(where, 'saved', saved),
    );
    const before = { updates: this.updates, criticStates: this.criticStates };
    this.updates = saved['updates'] as number;
    this.criticStates = new Map(Object.entries(criticStates).map(([seat, state]) => [Number(seat), state]));
    return withFields(taken, () => Object.assign(this, before));
  }

  dispose(): void {
    this.network.dispose();
  }

  private get seats(): number[] {
    return this.setup.ids.map((id) => this.setup.game.agents.indexOf(id));
  }

  /** L for recurrent networks, else 1. */
  private sequenceLength(steps: number): number {
    if (this.setup.net.stateSize === 0) return 1;
    const { sequenceLength = steps } = this.setup.options;
    if (steps % sequenceLength !== 0) {
      const expected = `rollouts of a multiple of ${sequenceLength} steps`;
      fail('ppo.update', expected, String(steps), 'Change sequenceLength or steps.');
    }
    return sequenceLength;
  }

  private checkFeedforward(): void {
    if (this.setup.net.stateSize === 0) return;
    const remedy = 'Use a feedforward network, or no imagined data.';
    fail(`PPO (${this.name})`, 'a feedforward network for imagined data', 'a recurrent one', remedy);
  }

  /**
   * Refuses critic states of other seats or of another size. There are none before the first update, nor without
   * recurrence.
   */
  private checkCriticStates(where: string, states: Readonly<Record<string, Float32Array>>): void {
    const [seats, given] = [this.seats.map(String).sort(), Object.keys(states).sort()];
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

  private async checkParameters(): Promise<void> {
    const bad = findNonFinite(await this.parameters());
    if (bad) throw new NonFiniteError(`PPO (${this.name}), update ${this.updates + 1}`, `the parameter ${bad}`, {});
  }
}

sharedAmongCopies(PpoLearner, VERSION);

/** A learner that adds something to PPO: it has the name, the agents and the updates of the PPO inside. */
export abstract class PpoWrapper {
  readonly offPolicy = 'log-probs';

  constructor(
    readonly ppo: PpoLearner,
    readonly config: Learner['config'],
  ) {}

  get name(): string {
    return this.ppo.name;
  }

  get ids(): readonly AgentId[] {
    return this.ppo.ids;
  }

  get updates(): number {
    return this.ppo.updates;
  }

  get parts(): readonly Learner[] {
    return [this.ppo];
  }
}
