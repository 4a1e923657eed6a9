import { createMoaBuffer, type MoaBuffer } from '@coplay/buffers';
import {
  type ActionSpaces,
  type Agent,
  type AgentId,
  type Experience,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  type SavedState,
  show,
} from '@coplay/core';
import { actionLayout } from '@coplay/core/arrays';
import {
  actionFault,
  checkArgument,
  checkExperienceOf,
  checkFunction,
  checkGenerator,
  checkNumber,
  restorePart,
  sharedAmongCopies,
} from '@coplay/core/checks';
import { checkRowSpec, drawIndex, mean } from '@coplay/core/rows';
import type { ExecutorChoice } from '@coplay/tensor';
import { z } from 'zod';
import { type Takeover, takeOverParts, withFields } from '../training/restore';
import { checkView, modelledAgent, viewInputs } from './agent';
import {
  actTogether,
  type MoaNetworks,
  moaNetworks,
  predictTable,
  scoresOf,
  type TrainingSettings,
  trainOn,
} from './algorithm';
import type { GoalChoice, MoaAgentState, MoaLearner, MoaView } from './contract';
import { type MoaTable, moaRowSpec, newEpisodes, perNetwork, pretrainingRows, tableOf, tableOfRows } from './data';
import { type MoaOptions, type MoaPretrainOptions, type MoaSetup, moaSetup, resolveMoaPretraining } from './options';
import { CoPlayerStats } from './stats';

/**
 * Models of all co-players of one agent: each predicts its co-player's actions from the co-player's own view and, where
 * the game names goals, its goal (Huang et al. 2024). An observer without co-players has none, and all of this is
 * empty.
 *
 * @throws CoplayError for unknown options, an id that the game doesn't have, or goals of a game without any
 */
export function createMoa<Spaces extends ActionSpaces>(options: MoaOptions<Spaces>): MoaLearner<Spaces>;
export function createMoa(options: MoaOptions<ActionSpaces>): MoaLearner<ActionSpaces> {
  return new MoaModels(moaSetup(options));
}

/**
 * Puts the models of several observers together: their predictions in the same turn run in one graph. All must be of
 * one kind (the same game and options). Their updates stay apart.
 */
export function stackMoas(moas: readonly MoaLearner[], executor: ExecutorChoice): void {
  const all = moas.filter((moa) => moa instanceof MoaModels).map(({ setup, networks }) => ({ setup, networks }));
  const members = all.map(({ networks }) => networks.members);
  if (members.flat().length < 2) return;
  const acts = actTogether(all[0].setup.net, members.flat(), executor);
  let taken = 0;
  all.forEach(({ networks }, i) => {
    networks.replace({ ...networks.functions, act: acts.slice(taken, taken + members[i].length) });
    taken += members[i].length;
  });
}

/** Scores and their metrics, which end with the co-player's id. */
const SCORES = [
  ['accuracy', 'moa/accuracy/'],
  ['logLikelihood', 'moa/log_likelihood/'],
  ['absoluteError', 'moa/absolute_error/'],
] as const;

function savedSchema(coPlayers: readonly AgentId[]) {
  const stats = Object.fromEntries(coPlayers.map((coPlayer) => [coPlayer, z.looseObject({})]));
  return z.looseObject({
    networks: z.looseObject({}),
    buffer: z.looseObject({}),
    standings: z.looseObject(stats),
    updates: z.int().min(0),
  });
}

class MoaModels implements MoaLearner<ActionSpaces> {
  updates = 0;
  version = 0;
  readonly networks: MoaNetworks;
  readonly buffer: MoaBuffer;
  private readonly stats: ReadonlyMap<AgentId, CoPlayerStats>;

  constructor(readonly setup: MoaSetup) {
    this.networks = moaNetworks(setup);
    const { net, options, coPlayers } = setup;
    this.stats = new Map(coPlayers.map((coPlayer) => [coPlayer, new CoPlayerStats(net.goals, options.goalDiscount)]));
    const { capacity, keep, caughtOnly, roomPerGoal, attempts, store } = options;
    this.buffer = createMoaBuffer({
      ...{ coPlayers, capacity, keep, caughtOnly, roomPerGoal, attempts, store },
      goals: options.goals === 'hindsight' ? setup.game.goals : undefined,
      onPush: (added) => {
        for (const [coPlayer, stats] of this.stats) stats.count(added[coPlayer]);
      },
    });
  }

  get id() {
    return this.setup.id;
  }

  get coPlayers() {
    return this.setup.coPlayers;
  }

  get goals() {
    return this.setup.net.goals;
  }

  get stateSize() {
    return this.setup.net.stateSize;
  }

  get config() {
    return this.setup.config;
  }

  async initialise(generator: Generator): Promise<void> {
    this.networks.initialise(generator);
  }

  push(experience: Experience<ActionSpaces>): void {
    checkExperienceOf('moa.push', this.setup.game, experience, 'experience', 'any');
    this.buffer.push(experience);
  }

  async update(generator: Generator): Promise<Metrics> {
    checkGenerator('moa.update', generator);
    if (this.coPlayers.length === 0) return {};
    const { minRows, epochs, learningRate } = this.setup.options;
    const newRows = [...this.stats].map(([coPlayer, { seen }]) => this.buffer.pushed[coPlayer].rows - seen.rows);
    if (Math.max(...newRows) < minRows) return this.metrics();
    const tables = new Map(this.coPlayers.map((coPlayer) => [coPlayer, this.heldTable(coPlayer)]));
    await Promise.all(this.coPlayers.map((coPlayer) => this.measure(coPlayer, tables.get(coPlayer))));
    const settings = { epochs, from: learningRate, to: learningRate };
    const learned = await this.train((coPlayer) => tables.get(coPlayer), settings, generator);
    for (const [coPlayer, stats] of this.stats) stats.seen = { ...this.buffer.pushed[coPlayer] };
    this.buffer.trained();
    this.networks.tidy(this.updates);
    this.updates++;
    return { ...learned, ...this.metrics() };
  }

  async pretrain(
    data: Experience<ActionSpaces> | Readonly<Record<AgentId, NamedArrays>>,
    options: MoaPretrainOptions,
  ): Promise<readonly Metrics[]> {
    const { epochs, generator, rate, afterEpoch } = resolveMoaPretraining(options, this.setup.options);
    if (this.coPlayers.length === 0) return [];
    const rows = pretrainingRows(data, this.setup);
    const tables = new Map(
      Object.entries(rows).map(([coPlayer, own]) => {
        return [coPlayer, tableOfRows('moa.pretrain', this.setup, coPlayer, own)];
      }),
    );
    const history: Metrics[] = [];
    for (let epoch = 0; epoch < epochs; epoch++) {
      const settings = { epochs: 1, from: rate(epoch / epochs), to: rate((epoch + 1) / epochs) };
      const metrics = await this.train((coPlayer) => tables.get(coPlayer), settings, generator);
      history.push(metrics);
      await afterEpoch?.(epoch, metrics);
    }
    return history;
  }

  async predict(coPlayer: AgentId, view: MoaView<ActionSpaces>, goals?: Int32Array): Promise<Float32Array> {
    return (await this.answer('moa.predict', coPlayer, view, goals)).policy;
  }

  step(coPlayer: AgentId, view: MoaView<ActionSpaces>, goals?: Int32Array) {
    return this.answer('moa.step', coPlayer, view, goals);
  }

  private async answer(where: string, coPlayer: AgentId, view: MoaView<ActionSpaces>, goals?: Int32Array) {
    this.statsOf(where, coPlayer);
    checkView(where, this.setup, view, goals);
    const memory = view.state ?? new Float32Array(view.rows * this.stateSize);
    const seat = this.setup.game.agents.indexOf(coPlayer);
    const inputs = viewInputs(this.setup, seat, view, goals, memory);
    const { policy, next } = await this.networks.functions.act[this.indexOf(coPlayer)](inputs);
    return { policy: policy.data as Float32Array, state: (next?.data ?? memory) as Float32Array };
  }

  predictRows(coPlayer: AgentId, rows: NamedArrays): Promise<Float32Array> {
    this.statsOf('moa.predictRows', coPlayer);
    const table = tableOfRows('moa.predictRows', this.setup, coPlayer, rows);
    return predictTable(this.setup, this.networks.functions.predict[this.indexOf(coPlayer)], table);
  }

  agent(coPlayer: AgentId, goalsOf?: GoalChoice<ActionSpaces>): Agent<MoaAgentState, ActionSpaces> {
    this.statsOf('moa.agent', coPlayer);
    if (goalsOf !== undefined) checkFunction('moa.agent', 'goalsOf', goalsOf);
    const drawn: GoalChoice<ActionSpaces> = (_row, _input, generator) => drawIndex(this.prior(coPlayer), generator);
    return modelledAgent(this, coPlayer, this.setup.distribution, goalsOf ?? drawn);
  }

  accuracy(coPlayer: AgentId): number {
    return this.statsOf('moa.accuracy', coPlayer).scores.accuracy ?? 0;
  }

  goalCounts(coPlayer: AgentId): Float64Array {
    return this.statsOf('moa.goalCounts', coPlayer).counts.counts.slice();
  }

  prior(coPlayer: AgentId): Float64Array {
    return this.statsOf('moa.prior', coPlayer).counts.prior();
  }

  async parameters(coPlayer: AgentId): Promise<NamedArrays> {
    this.statsOf('moa.parameters', coPlayer);
    return this.networks.members[this.indexOf(coPlayer)].params.read();
  }

  async state(): Promise<SavedState> {
    return {
      networks: await this.networks.readMembers(),
      buffer: this.buffer.state(),
      standings: Object.fromEntries([...this.stats].map(([coPlayer, stats]) => [coPlayer, stats.state()])),
      updates: this.updates,
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for learners that consist of several. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const where = `moa (${this.id}): restore`;
    checkArgument(where, 'saved', savedSchema(this.coPlayers), saved);
    const standings = saved['standings'] as Readonly<Record<AgentId, SavedState>>;
    const buffer = saved['buffer'] as SavedState;
    const isShared = this.setup.options.store !== undefined;
    const parts = [
      // The state of a store is restored by its owner; here it is compared, once everything is there.
      ...(isShared ? [] : [{ path: 'saved.buffer', part: this.buffer, saved: buffer }]),
      ...[...this.stats].map(([coPlayer, part]) => {
        return { path: `saved.standings.${coPlayer}`, part, saved: standings[coPlayer] };
      }),
    ];
    const networks = this.networks.takeOver(where, 'saved.networks', saved['networks'] as SavedState);
    const taken = await takeOverParts(where, parts, networks, () => {
      if (isShared) restorePart(`${where}: saved.buffer`, () => this.buffer.restore(buffer));
      this.checkHeld(where);
    });
    const before = { version: this.version, updates: this.updates };
    this.version++;
    this.updates = saved['updates'] as number;
    return withFields(taken, () => Object.assign(this, before));
  }

  /** Refuses rows of another game, and more rows or episodes trained on than were pushed. */
  private checkHeld(where: string): void {
    for (const [coPlayer, { seen }] of this.stats) {
      const { columns } = this.buffer.held(coPlayer);
      if (Object.keys(columns).length > 0) {
        const path = `${where}: saved.buffer.rings.${coPlayer}`;
        checkRowSpec(path, moaRowSpec(this.setup.game), columns);
        this.checkActions(path, coPlayer);
      }
      const { rows, episodes } = this.buffer.pushed[coPlayer];
      checkNumber(`${where}: saved.standings.${coPlayer}`, 'seen.rows', seen.rows, { max: rows });
      checkNumber(`${where}: saved.standings.${coPlayer}`, 'seen.episodes', seen.episodes, { max: episodes });
    }
  }

  /** Refuses actions that the co-players' space lacks. */
  private checkActions(where: string, coPlayer: AgentId): void {
    const { game, space } = this.setup;
    if (typeof game.actions === 'number') return; // the buffer has checked them
    const { columns, places } = this.buffer.held(coPlayer);
    const { data } = columns['actions'];
    for (const place of places) {
      const fault = actionFault(space, data as ArrayLike<number>, place * actionLayout(game).width);
      if (fault) fail(`${where}: actions`, fault.expected, fault.got, 'Give what state() returned.');
    }
  }

  dispose(): void {
    this.networks.dispose();
  }

  /** Which of the networks predicts a co-player. */
  private indexOf(coPlayer: AgentId): number {
    return this.setup.options.share ? 0 : this.coPlayers.indexOf(coPlayer);
  }

  private statsOf(where: string, coPlayer: AgentId): CoPlayerStats {
    const known = this.coPlayers.join(', ') || 'nobody';
    const remedy = `Name a co-player of ${this.id}.`;
    return this.stats.get(coPlayer) ?? fail(`${where}: coPlayer`, `one of ${known}`, show(coPlayer), remedy);
  }

  private heldTable(coPlayer: AgentId): MoaTable | undefined {
    const held = this.buffer.held(coPlayer);
    return held.places.length === 0 ? undefined : tableOf(this.setup, coPlayer, held);
  }

  private async train(
    of: (coPlayer: AgentId) => MoaTable | undefined,
    settings: TrainingSettings,
    generator: Generator,
  ): Promise<Metrics> {
    const where = `moa (${this.id}), update ${this.updates + 1}`;
    const tables = perNetwork(this.setup, of);
    const metrics = await trainOn(where, this.setup, this.networks, tables, settings, generator);
    this.version++;
    return metrics;
  }

  /** Scores on the episodes that its model was not trained on yet. */
  private async measure(coPlayer: AgentId, held: MoaTable | undefined): Promise<void> {
    const stats = this.statsOf('moa.update', coPlayer);
    const fresh = held && newEpisodes(held, stats.seen);
    if (!fresh) return;
    stats.scores = await scoresOf(this.setup, this.networks.functions.predict[this.indexOf(coPlayer)], fresh);
  }

  private metrics(): Metrics {
    const measured = SCORES.flatMap(([score, key]) => {
      const own = [...this.stats].flatMap(([coPlayer, { scores }]) => {
        return scores[score] === undefined ? [] : [[`${key}${coPlayer}`, scores[score]] as const];
      });
      const all = own.length === 0 ? [] : [[key.slice(0, -1), mean(own.map(([, value]) => value))] as const];
      return [...own, ...all];
    });
    return {
      ...Object.fromEntries(measured),
      'moa/rows': this.coPlayers.reduce((sum, coPlayer) => sum + this.buffer.rows[coPlayer], 0),
    };
  }
}

sharedAmongCopies(MoaModels, '@coplay/trainers/MoaModels@0.1');
