import {
  type AgentId,
  type Experience,
  fail,
  type Generator,
  type Metrics,
  rulesSimulator,
  type SavedState,
  type Simulator,
} from '@coplay/core';
import { checkArgument, checkGenerator, checkNumber } from '@coplay/core/checks';
import { z } from 'zod';
import { PpoLearner, PpoWrapper } from '../ppo';
import type { LearnerData } from '../training';
import { anneal } from '../training/annealed';
import { checkLearnerData } from '../training/check-calls';
import { meanMetrics } from '../training/metrics';
import { seenBy } from '../training/own-view';
import { type Takeover, takeOverParts, withFields } from '../training/restore';
import type { WorldModelLearner } from '../world-model';
import { withCutPriors } from './goal-priors';
import { imaginationGate, imagineFrom } from './imagination';
import { withCutSubgoals, withSubgoals } from './policy';
import { searchMetrics, withPlayedLogProbs } from './search-data';
import type { CoPlayerModels, HopPlusPlayers, HopPlusSetup } from './setup';

/** Children of a learner's generator. */
const SPLITS = { ppo: 0, worldModel: 1, coPlayerModels: 2, imagination: 3, subgoals: 4 };

/** Updates of the world model in one of the agent while its accuracy is below what imagination waits for. */
const UPDATES_WHILE_AWAITED = 4;

/** Updates, and share of the training, after which a learner whose world model isn't used yet warns. */
const UNUSED = { updates: 10, progress: 0.25 };

const savedSchema = z.looseObject({
  ppo: z.looseObject({}).optional(),
  worldModel: z.looseObject({}).optional(),
  progress: z.number().min(0).max(1).optional(),
  coPlayerModels: z.record(z.string(), z.looseObject({})).optional(),
});

/**
 * HOP+: PPO on real and imagined experience. Each update trains the models on real experience, imagines from its states
 * with the present policy, and then trains the policy on both, and on the results of the tree search, if there is one.
 */
export class HopPlusLearner extends PpoWrapper implements HopPlusPlayers {
  /** Share of the training that was done before the last update, in [0, 1]: for the schedules of the tree search. */
  progress = 0;
  /** Whether the world model was used, or the warning that it isn't was given. */
  private isUseSettled = false;
  private readonly simulator: Simulator | undefined;

  constructor(readonly setup: HopPlusSetup) {
    super(new PpoLearner(setup.ppo), setup.config);
    const { worldModel, imagined, game } = setup;
    if (worldModel === 'rules') this.simulator = rulesSimulator(game);
    else if (worldModel) this.simulator = worldModel.simulator({ sample: imagined ? imagined.sample : true });
  }

  /** The models that the agent in a seat has of its co-players; empty in seats of other learners. */
  coPlayerModelsOf(seat: number): CoPlayerModels {
    const { length } = this.setup.game.agents;
    checkNumber(`HOP+ (${this.name}).coPlayerModelsOf`, 'seat', seat, { min: 0, max: length - 1, whole: true });
    return this.setup.coPlayerModels.get(seat) ?? {};
  }

  /** Whether there is a tree search, and the world model is accurate enough for it. */
  get isReadyToSearch(): boolean {
    const { treeSearch, worldModel } = this.setup;
    return treeSearch !== false && (typeof worldModel !== 'object' || worldModel.accuracy >= treeSearch.minAccuracy);
  }

  async initialise(generator: Generator): Promise<void> {
    checkGenerator(`HOP+ (${this.name}).initialise`, generator);
    const own = generator.fork();
    await this.ppo.initialise(own.split(SPLITS.ppo));
    const { worldModel, coPlayerModels } = this.setup;
    if (typeof worldModel === 'object') await worldModel.initialise(own.split(SPLITS.worldModel));
    for (const [seat, { moa, omg }] of coPlayerModels) {
      const ofSeat = own.split(SPLITS.coPlayerModels).split(seat);
      await moa?.initialise(ofSeat.split(0));
      await omg?.initialise(ofSeat.split(1));
    }
  }

  async update(data: LearnerData): Promise<Metrics> {
    checkLearnerData(`HOP+ (${this.name}).update`, this.setup.game, data);
    const { experience, progress, generator } = data;
    const own = generator.fork();
    const seen = await this.completed(experience);
    // Selectors of subgoals compare states by these values.
    const values = this.seats.some((seat) => this.coPlayerModelsOf(seat).omg) ? await this.ppo.values(seen) : undefined;
    const models = await this.teachModels(seen, values, own);
    this.warnOfUnusedModel(data);
    const { imagined, metrics } = await this.imagine(seen, progress, own.split(SPLITS.imagination));
    const taught = await this.withSelectedSubgoals(seen, values, progress, own.split(SPLITS.subgoals));
    const learned = await this.ppo.update({ experience: taught, imagined, progress, generator: own.split(SPLITS.ppo) });
    this.progress = progress;
    return { ...models, ...metrics, ...learned, ...searchMetrics(this.setup, this.seats, experience) };
  }

  async state(): Promise<SavedState> {
    const { worldModel, coPlayerModels, game, treeSearch } = this.setup;
    const saved: [AgentId, SavedState][] = [];
    for (const [seat, { moa, omg }] of coPlayerModels) {
      const models = { ...(moa && { moa: await moa.state() }), ...(omg && { omg: await omg.state() }) };
      saved.push([game.agents[seat], models]);
    }
    return {
      ppo: await this.ppo.state(),
      coPlayerModels: Object.fromEntries(saved),
      ...(typeof worldModel === 'object' && { worldModel: await worldModel.state() }),
      ...(treeSearch && { progress: this.progress }),
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for learners that consist of several. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const where = `HOP+ (${this.name}): restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    this.checkSaved(saved);
    const { worldModel, coPlayerModels, game } = this.setup;
    const all = saved['coPlayerModels'] as Record<AgentId, Record<keyof CoPlayerModels, SavedState>>;
    const models = [...coPlayerModels].flatMap(([seat, { moa, omg }]) => {
      const id = game.agents[seat];
      return [
        ...(moa ? [{ path: `saved.coPlayerModels.${id}.moa`, part: moa, saved: all[id].moa }] : []),
        ...(omg ? [{ path: `saved.coPlayerModels.${id}.omg`, part: omg, saved: all[id].omg }] : []),
      ];
    });
    const world = saved['worldModel'] as SavedState;
    const taken = await takeOverParts(where, [
      { path: 'saved.ppo', part: this.ppo, saved: saved['ppo'] as SavedState },
      ...(typeof worldModel === 'object' ? [{ path: 'saved.worldModel', part: worldModel, saved: world }] : []),
      ...models,
    ]);
    const before = this.progress;
    this.progress = (saved['progress'] as number | undefined) ?? 0;
    return withFields(taken, () => {
      this.progress = before;
    });
  }

  /** Refuses a state that was saved with other modules, before anything has changed. */
  private checkSaved(saved: SavedState): void {
    const { worldModel, coPlayerModels, game } = this.setup;
    const all = (saved['coPlayerModels'] ?? {}) as Record<AgentId, SavedState>;
    const missing = [...coPlayerModels].flatMap(([seat, models]) => {
      const id = game.agents[seat];
      return (['moa', 'omg'] as const)
        .filter((name) => models[name] && !all[id]?.[name])
        .map((name) => `coPlayerModels.${id}.${name}`);
    });
    if (typeof worldModel === 'object' && !saved['worldModel']) missing.push('worldModel');
    if (this.setup.treeSearch && saved['progress'] === undefined) missing.push('progress');
    if (!saved['ppo']) missing.push('ppo');
    if (missing.length === 0) return;
    const remedy = 'Make the agent with the modules that it was saved with.';
    fail(
      `HOP+ (${this.name}): restore`,
      'a state with all of its modules',
      `one without ${missing.join(', ')}`,
      remedy,
    );
  }

  dispose(): void {
    this.ppo.dispose();
    const { worldModel, coPlayerModels } = this.setup;
    if (typeof worldModel === 'object') worldModel.dispose();
    for (const { moa, omg } of coPlayerModels.values()) {
      moa?.dispose();
      omg?.dispose();
    }
  }

  private get seats(): number[] {
    return [...this.setup.coPlayerModels.keys()];
  }

  /** The same experience with the critic's inputs at its cuts. */
  private async completed(experience: Experience): Promise<Experience> {
    const { seats } = this;
    const known = this.setup.priorSize > 0 ? withCutPriors(experience) : experience;
    if (!this.coPlayerModelsOf(seats[0]).omg) return known;
    return withCutSubgoals(known, seats, (seat) => this.coPlayerModelsOf(seat).omg!);
  }

  /** One update of every model on real experience. */
  private async teachModels(experience: Experience, values: Float32Array | undefined, generator: Generator) {
    const { worldModel } = this.setup;
    const updates: Promise<Metrics>[] = [];
    if (typeof worldModel === 'object') {
      worldModel.push(experience);
      updates.push(this.teachWorld(worldModel, generator.split(SPLITS.worldModel)));
    }
    updates.push(this.teachCoPlayerModels(experience, values, generator.split(SPLITS.coPlayerModels)));
    return Object.assign({}, ...(await Promise.all(updates))) as Metrics;
  }

  /** One update, or a few while imagination waits for the model. */
  private async teachWorld(worldModel: WorldModelLearner, generator: Generator): Promise<Metrics> {
    const { imagined } = this.setup;
    const measured = await worldModel.update(generator);
    const isAwaited = imagined && worldModel.accuracy < imagined.minAccuracy;
    for (let extra = 1; isAwaited && extra < UPDATES_WHILE_AWAITED; extra++) await worldModel.update(generator);
    return measured;
  }

  /** Warns once if imagination or tree search still waits for the world model after much of the training. */
  private warnOfUnusedModel({ progress, warn }: LearnerData): void {
    const { worldModel, imagined, treeSearch, ppo } = this.setup;
    if (typeof worldModel !== 'object' || this.isUseSettled) return;
    const { accuracy } = worldModel;
    const waits: string[] = [];
    if (imagined && accuracy < imagined.minAccuracy && anneal(ppo.options.realRatio, progress) < 1) {
      waits.push(`imagination (imagined.minAccuracy ${imagined.minAccuracy})`);
    }
    if (treeSearch && !this.isReadyToSearch)
      waits.push(`the tree search (treeSearch.minAccuracy ${treeSearch.minAccuracy})`);
    const isLate = this.updates >= UNUSED.updates && progress >= UNUSED.progress;
    this.isUseSettled = waits.length === 0 || isLate;
    if (waits.length === 0 || !isLate) return;
    warn?.(
      `HOP+ (${this.name}): after ${this.updates} updates the accuracy of the world model is ${accuracy.toFixed(2)}, ` +
        `and ${waits.join(' and ')} still waits for it. Lower minAccuracy, or train the model more ` +
        '("While the world model is not used" in docs/hop-plus.md).',
    );
  }

  private async teachCoPlayerModels(experience: Experience, values: Float32Array | undefined, generator: Generator) {
    const { worldModel } = this.setup;
    const isOwn = typeof worldModel === 'object' && worldModel.model.ownView !== undefined;
    const metrics = this.seats.map(async (seat) => {
      const { moa, omg } = this.coPlayerModelsOf(seat);
      const own = generator.split(seat);
      moa?.push(isOwn ? seenBy(experience, seat) : experience);
      omg?.push(experience, values);
      return { ...(await moa?.update(own.split(0))), ...(await omg?.update(own.split(1))) };
    });
    return meanMetrics(await Promise.all(metrics));
  }

  /** Each agent's imagined experience, once the gates are open. */
  private async imagine(experience: Experience, progress: number, generator: Generator) {
    const { imagined: options, worldModel } = this.setup;
    const { simulator } = this;
    const isUsed = anneal(this.setup.ppo.options.realRatio, progress) < 1;
    if (!options || !simulator || !isUsed) return { imagined: [], metrics: {} };
    const accuracy = typeof worldModel === 'object' ? worldModel.accuracy : 1;
    const made = this.seats.map(async (seat) => {
      const { moa } = this.coPlayerModelsOf(seat);
      const trusted = moa ? moa.coPlayers.map((id) => moa.accuracy(id)) : [];
      const { horizon, metrics } = imaginationGate(options, this.updates, accuracy, trusted);
      const parts = { learner: this, simulator, options, progress };
      const imagined =
        horizon > 0 ? await imagineFrom(parts, experience, seat, horizon, generator.split(seat)) : undefined;
      return { imagined: imagined && this.ownOnly(await this.completedFor(seat, imagined), seat), metrics };
    });
    const all = await Promise.all(made);
    return {
      imagined: all.flatMap(({ imagined }) => imagined ?? []),
      metrics: meanMetrics(all.map(({ metrics }) => metrics)),
    };
  }

  private async completedFor(seat: number, imagined: Experience): Promise<Experience> {
    const { omg } = this.coPlayerModelsOf(seat);
    const known = this.setup.priorSize > 0 ? withCutPriors(imagined) : imagined;
    return omg ? withCutSubgoals(known, [seat], () => omg) : known;
  }

  /** The agent's own part of its imagined experience; the co-players in it are imagined, and learn nothing from it. */
  private ownOnly(imagined: Experience, seat: number): Experience {
    if (this.seats.length === 1) return imagined;
    const agents = imagined.agents.length;
    return { ...imagined, active: imagined.active.map((flag, row) => (row % agents === seat ? flag : 0)) };
  }

  /**
   * With probability `epsilon`, replaces inferred subgoals by selected ones, and the log-probabilities of the policy's
   * own actions by those of the present policy.
   */
  private async withSelectedSubgoals(
    experience: Experience,
    values: Float32Array | undefined,
    progress: number,
    generator: Generator,
  ) {
    const epsilon = anneal(this.setup.epsilon, progress);
    if (epsilon === 0 || !values) return experience;
    let mixed = experience;
    for (const seat of this.seats) {
      const { omg } = this.coPlayerModelsOf(seat);
      if (!omg?.isReady) continue;
      const { subgoals } = await omg.subgoalsOf(experience, { values, epsilon, generator: generator.split(seat) });
      mixed = await this.ppo.currentLogProbs(withSubgoals(mixed, seat, subgoals), seat);
    }
    return withPlayedLogProbs(this.setup, mixed, experience);
  }
}
