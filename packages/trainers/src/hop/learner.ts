import { createEpisodeCollector, createReplayBuffer, type EpisodeCollector, type ReplayBuffer } from '@coplay/buffers';
import {
  type AgentId,
  type Experience,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  ndarray,
  type SavedState,
  show,
} from '@coplay/core';
import { checkArgument, checkGenerator, checkRecord, namedArrays, sharedAmongCopies } from '@coplay/core/checks';
import { paddedCount, padRows, putSeat, reshapeRows } from '@coplay/core/rows';
import { prefixed } from '@coplay/models/layers';
import type { TreeSearch } from '@coplay/planning';
import { z } from 'zod';
import { type MoaLearner, stackMoas } from '../moa';
import { findNonFinite, type Learner, type LearnerData, type Lockstep, NonFiniteError } from '../training';
import { anneal } from '../training/annealed';
import { checkLearnerData } from '../training/check-calls';
import { meanMetrics } from '../training/metrics';
import { seenBy } from '../training/own-view';
import { type Takeover, takeOverParts, withFields } from '../training/restore';
import { episodeReturns, finalTargets, searchMetrics, trainingMetrics, valueTargets } from './algorithm';
import { checkHopRows, cutInputs, extraOf, hopRows, SEARCH_VALUES } from './data';
import { type HopNetwork, type HopSetup, hopNetwork, joinNetworks, kindOf } from './setup';

/** Learners of all copies of the package that call themselves so work together. */
const VERSION = '@coplay/trainers/HopLearner@0.1';

/** Children of a learner's generator. */
const SPLITS = { network: 0, worldModel: 1, coPlayerModels: 2, replay: 3, ranks: 4 };

const savedSchema = z.looseObject({
  params: namedArrays,
  slots: namedArrays,
  updates: z.int().min(0),
  progress: z.number().min(0).max(1),
  replay: z.looseObject({ rows: namedArrays }).optional(),
});

/** HOP for one agent, or for several that share weights: learns from the search results of finished episodes. */
export class HopLearner implements Learner {
  readonly name: string;
  updates = 0;
  /** Share of the training that was done before the last update, in [0, 1]. */
  progress = 0;
  readonly network: HopNetwork;
  /** How often its own parameters changed. */
  private changes = 0;
  private readonly replay: ReplayBuffer;
  private readonly collector: EpisodeCollector = createEpisodeCollector();
  /** Searches of the learning agents, and their counters at the last update. */
  private readonly searches: { readonly search: TreeSearch; counts: TreeSearch['counts'] }[] = [];

  constructor(readonly setup: HopSetup) {
    this.name = setup.ids.length === 1 ? setup.ids[0] : 'shared';
    this.network = hopNetwork(setup, this.name);
    this.replay = createReplayBuffer({ capacity: setup.options.capacity });
  }

  get ids(): readonly AgentId[] {
    return this.setup.ids;
  }

  get config() {
    return this.setup.config;
  }

  /**
   * Changes whenever the parameters that a search queries may have changed: this learner's, and its models' of
   * co-players, even if another learner trained them. For searches that keep answers.
   */
  get version(): number {
    let version = this.changes;
    for (const moa of this.setup.coPlayerModels.values()) version += moa.version;
    return version;
  }

  get lockstep(): Lockstep<HopLearner> | undefined {
    const kind = kindOf(this.setup);
    if (kind === undefined) return undefined;
    const join = (learners: readonly HopLearner[]) => {
      const networks = learners.map(({ network }) => network);
      joinNetworks(this.setup, networks);
      const models = learners.flatMap((learner) => [...learner.setup.coPlayerModels.values()]);
      stackMoas(models, this.setup.executor);
    };
    return { kind: `${VERSION} ${kind}`, networks: this.network.groups, join };
  }

  /** Whether the search's models are accurate enough. */
  get isReadyToSearch(): boolean {
    const { worldModel, minAccuracy } = this.setup;
    return worldModel === undefined || worldModel.accuracy >= minAccuracy;
  }

  /** Includes a search's counters in the metrics. */
  watch(search: TreeSearch): void {
    const where = `HOP (${this.name}).watch`;
    checkRecord(where, 'search', search);
    checkRecord(where, 'search.counts', search.counts);
    this.searches.push({ search, counts: { ...search.counts } });
  }

  /** The models that the agent in a seat has of its co-players. */
  coPlayerModelsOf(seat: number): MoaLearner {
    return (
      this.setup.coPlayerModels.get(seat) ??
      fail(`HOP (${this.name}).coPlayerModelsOf`, 'a seat of its own', show(seat), 'Call the learner of that seat.')
    );
  }

  async initialise(generator: Generator): Promise<void> {
    checkGenerator(`HOP (${this.name}).initialise`, generator);
    const own = generator.fork();
    this.network.initialise(own.split(SPLITS.network));
    await this.setup.worldModel?.initialise(own.split(SPLITS.worldModel));
    for (const [seat, moa] of this.setup.coPlayerModels)
      await moa.initialise(own.split(SPLITS.coPlayerModels).split(seat));
  }

  /** Copies of the present parameters, named `body/...`, `policy/...`, `value/...`. */
  parameters(): Promise<NamedArrays> {
    return this.network.groups.params.read();
  }

  async update(data: LearnerData): Promise<Metrics> {
    checkLearnerData(`HOP (${this.name}).update`, this.setup.game, data);
    const { experience, progress, generator } = data;
    const own = generator.fork();
    const taken = await this.take(experience, own.split(SPLITS.ranks));
    const models = await this.teachModels(experience, own);
    const learned = await this.learn(progress, own.split(SPLITS.replay));
    this.updates++;
    this.changes++;
    this.progress = progress;
    return { ...taken, ...models, ...learned, ...searchMetrics(this.searches) };
  }

  async state(): Promise<SavedState> {
    const { coPlayerModels, worldModel, ranks, game } = this.setup;
    const saved: [AgentId, SavedState][] = [];
    for (const [seat, moa] of coPlayerModels) saved.push([game.agents[seat], await moa.state()]);
    return {
      ...(await this.network.read()),
      updates: this.updates,
      progress: this.progress,
      replay: this.replay.state(),
      collector: this.collector.state(),
      coPlayerModels: Object.fromEntries(saved),
      ...(worldModel && { worldModel: await worldModel.state() }),
      ...(ranks && { ranks: ranks.state() }),
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for learners that consist of several. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const { coPlayerModels, worldModel, ranks, game } = this.setup;
    const where = `HOP (${this.name}): restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    this.checkSaved(saved);
    const { rows } = saved['replay'] as unknown as { readonly rows: NamedArrays };
    if (Object.keys(rows).length > 0) {
      checkHopRows(where, 'saved.replay.rows', rows, this.setup);
    }
    const all = saved['coPlayerModels'] as Record<AgentId, SavedState>;
    const models = [...coPlayerModels].map(([seat, part]) => {
      const id = game.agents[seat];
      return { path: `saved.coPlayerModels.${id}`, part, saved: all[id] };
    });
    const parts = [
      { path: 'saved.replay', part: this.replay, saved: saved['replay'] as SavedState },
      { path: 'saved.collector', part: this.collector, saved: saved['collector'] as SavedState },
      ...(ranks ? [{ path: 'saved.ranks', part: ranks, saved: saved['ranks'] as SavedState }] : []),
      ...models,
      ...(worldModel ? [{ path: 'saved.worldModel', part: worldModel, saved: saved['worldModel'] as SavedState }] : []),
    ];
    const taken = await takeOverParts(where, parts, this.network.takeOver(where, 'saved', saved));
    const before = { updates: this.updates, progress: this.progress, changes: this.changes };
    this.updates = saved['updates'] as number;
    this.progress = saved['progress'] as number;
    this.changes++;
    return withFields(taken, () => Object.assign(this, before));
  }

  dispose(): void {
    this.network.dispose();
    this.setup.worldModel?.dispose();
    for (const moa of this.setup.coPlayerModels.values()) moa.dispose();
  }

  /** Refuses a state that was saved with other modules, before anything has changed. */
  private checkSaved(saved: SavedState): void {
    const { coPlayerModels, worldModel, ranks, game } = this.setup;
    const all = (saved['coPlayerModels'] ?? {}) as SavedState;
    const parts = ['replay', 'collector', ...(worldModel ? ['worldModel'] : []), ...(ranks ? ['ranks'] : [])];
    const missing = parts.filter((name) => saved[name] === undefined);
    for (const seat of coPlayerModels.keys()) {
      if (!all[game.agents[seat]]) missing.push(`coPlayerModels.${game.agents[seat]}`);
    }
    if (missing.length === 0) return;
    const remedy = 'Make the agent with the options that it was saved with.';
    fail(`HOP (${this.name}): restore`, 'a state of such an agent', `one without ${missing.join(', ')}`, remedy);
  }

  /** Puts the steps of the episodes that have ended into the replay. */
  private async take(experience: Experience, generator: Generator): Promise<Metrics> {
    const episodes = this.collector.push(experience);
    const { coPlayerModels } = this.setup;
    const counted = { sum: 0, rows: 0 };
    if (episodes.envs > 0) {
      const targets = await this.targets(episodes, generator);
      for (const seat of coPlayerModels.keys()) {
        const rows = hopRows(episodes, seat, this.setup, targets);
        const returns = rows['returns'].data;
        for (const value of returns) counted.sum += value;
        counted.rows += returns.length;
        if (returns.length > 0) this.replay.push(rows);
      }
    }
    const targetMean: Metrics = counted.rows > 0 ? { 'hop/target_mean': counted.sum / counted.rows } : {};
    return { ...targetMean, 'hop/new_rows': counted.rows, 'hop/rows': this.replay.size };
  }

  /** [E, T, A] */
  private async targets(episodes: Experience, generator: Generator): Promise<Float32Array> {
    const { options, ranks, coPlayerModels } = this.setup;
    if (ranks) {
      const A = episodes.agents.length;
      const returns = episodeReturns(episodes);
      const isOwn = (i: number) => coPlayerModels.has(i % A);
      const outcomes = returns.map((value, i) => (isOwn(i) ? ranks.rank(value, generator) : 0));
      returns.forEach((value, i) => {
        if (isOwn(i)) ranks.add(value);
      });
      return finalTargets(episodes, outcomes, options.gamma);
    }
    const cutValues = await this.cutValues(episodes);
    return valueTargets(episodes, { searchValues: extraOf(episodes, SEARCH_VALUES), cutValues }, options);
  }

  /** [N, A] the network's values of the observations at the cuts; 0 for other seats. */
  private async cutValues(episodes: Experience): Promise<Float32Array> {
    const count = episodes.cuts.env.length;
    const A = episodes.agents.length;
    const cutValues = new Float32Array(count * A);
    if (count === 0 || this.setup.options.valueTarget === 'final') return cutValues;
    for (const seat of this.setup.coPlayerModels.keys()) {
      const seen = prefixed('in', cutInputs(episodes, seat, this.setup));
      const { values } = await this.network.functions.act(padRows(seen, paddedCount(count)));
      putSeat(cutValues, seat, A, (values.data as Float32Array).subarray(0, count));
    }
    return cutValues;
  }

  /** One update of every model on real experience. */
  private async teachModels(experience: Experience, generator: Generator): Promise<Metrics> {
    const { coPlayerModels, worldModel } = this.setup;
    worldModel?.push(experience);
    const world = worldModel ? await worldModel.update(generator.split(SPLITS.worldModel)) : {};
    const own = generator.split(SPLITS.coPlayerModels);
    const isOwn = worldModel?.model.ownView !== undefined;
    const metrics = [...coPlayerModels].map(([seat, moa]) => {
      moa.push(isOwn ? seenBy(experience, seat) : experience);
      return moa.update(own.split(seat));
    });
    return { ...world, ...meanMetrics(await Promise.all(metrics)) };
  }

  /** Minibatches from the replay, in one call. */
  private async learn(progress: number, generator: Generator): Promise<Metrics> {
    const { minibatches, minibatchSize, minRows } = this.setup.options;
    if (this.replay.size < minRows) return {};
    const learningRate = anneal(this.setup.options.learningRate, progress);
    const { rows } = this.replay.sample(generator, { batch: minibatches * minibatchSize });
    const each = reshapeRows(rows, [minibatches, minibatchSize], 2);
    const outputs = await this.network.functions.update({
      each,
      shared: { learningRate: ndarray(Float32Array.of(learningRate), []) },
    });
    this.checkFinite(outputs, each);
    this.network.tidy(this.updates);
    return trainingMetrics(outputs);
  }

  private checkFinite(outputs: NamedArrays, batch: NamedArrays): void {
    const bad = findNonFinite(outputs);
    if (bad) throw new NonFiniteError(`HOP (${this.name}), update ${this.updates + 1}`, bad, batch);
  }
}

sharedAmongCopies(HopLearner, VERSION);
