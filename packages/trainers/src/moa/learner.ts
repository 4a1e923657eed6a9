import type { MoaCounts } from '@coplay/buffers';
import {
  type Agent,
  type AgentId,
  checkArgument,
  checkCount,
  checkExperienceOf,
  checkFunction,
  checkGenerator,
  checkObservationArrays,
  checkRecord,
  checkTypedArray,
  type Experience,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  ndarray,
  type SavedState,
  sharedAmongCopies,
  show,
} from '@coplay/core';

import { checkRowSpec, drawIndex, rowSpecOf } from '@coplay/core/rows';
import { prefixed } from '@coplay/models';
import { type GoalCounts, goalCounts } from '@coplay/planning';
import { z } from 'zod';
import { type Takeover, takeOverParts } from '../training/restore';
import { modelledAgent } from './agent';
import type { GoalChoice, MoaAgentState, MoaLearner, MoaPretrainOptions, MoaView } from './contract';
import { topOne } from './metrics';
import { freshMoaNetworks, type MoaNetworkSetup, type MoaNetworks, savedMoaNetworks } from './networks';
import type { MoaSetup } from './options';
import { predictTable } from './predict';
import { pretrainingRows, resolveMoaPretraining } from './pretrain';
import { checkMoaRows, heldRows, joinTables, type MoaTable, noMoaRows, tableOf } from './table';
import { type TrainingResult, train } from './train';

/** A co-player's rows as they are learned from, and the numbers of their episodes. */
interface TrainingRows {
  readonly table: MoaTable;
  readonly serials: readonly number[];
}

/** The statistics of one co-player. */
interface CoPlayerStats {
  readonly counts: GoalCounts;
  /** Undefined until it was measured once. */
  accuracy: number | undefined;
  /** What had come when its model was last trained. */
  seen: MoaCounts;
}

const NOTHING: MoaCounts = { rows: 0, episodes: 0 };

/** Updates between flushes of denormal numbers, which slow down every operation that meets them. */
const FLUSH_EVERY = 8;

/** The saved form of a {@link CoPlayerStats}. */
interface SavedCoPlayerStats {
  readonly counts: SavedState;
  readonly accuracy: number | null;
  readonly seen: MoaCounts;
}

function savedSchema(coPlayers: readonly AgentId[]) {
  const counted = z.int().min(0);
  const standing = z.looseObject({
    counts: z.looseObject({}),
    accuracy: z.number().min(0).max(1).nullable(),
    seen: z.looseObject({ rows: counted, episodes: counted }),
  });
  return z.looseObject({
    networks: z.looseObject({}),
    buffer: z.looseObject({}),
    standings: z.looseObject(Object.fromEntries(coPlayers.map((coPlayer) => [coPlayer, standing]))),
    updates: counted,
  });
}

/** {@link MoaLearner}, made by `createMoa`. */
export class MoaModels implements MoaLearner {
  updates = 0;
  version = 0;
  private networks: MoaNetworks | undefined;
  private readonly standings: ReadonlyMap<AgentId, CoPlayerStats>;

  constructor(private readonly setup: MoaSetup) {
    const { net, options, coPlayers } = setup;
    const fresh = (): CoPlayerStats => ({
      counts: goalCounts(net.goals, options.goalDiscount),
      accuracy: undefined,
      seen: NOTHING,
    });
    this.standings = new Map(coPlayers.map((coPlayer) => [coPlayer, fresh()]));
  }

  get id() {
    return this.setup.id;
  }

  get coPlayers() {
    return this.setup.coPlayers;
  }

  get net() {
    return this.setup.net;
  }

  get goals() {
    return this.setup.net.goals;
  }

  get stateSize() {
    return this.setup.net.stateSize;
  }

  get buffer() {
    return this.setup.buffer;
  }

  get config() {
    return this.setup.config;
  }

  async initialise(generator: Generator): Promise<void> {
    checkGenerator('moa.initialise', generator);
    this.networks ??= freshMoaNetworks(this.networkSetup(), generator);
  }

  push(experience: Experience): void {
    checkExperienceOf('moa.push', this.setup.game, experience);
    const added = this.buffer.push(experience);
    for (const coPlayer of this.coPlayers) {
      const { isFirst, goals } = added[coPlayer];
      const { counts } = this.standing('moa.update', coPlayer);
      for (let row = 0; row < isFirst.data.length; row++) if (isFirst.data[row] === 1) counts.add(goals.data[row]);
    }
  }

  async update(generator: Generator): Promise<Metrics> {
    checkGenerator('moa.update', generator);
    if (this.coPlayers.length === 0) return {};
    const waiting = Math.max(...this.coPlayers.map((coPlayer) => this.newRows(coPlayer)));
    if (waiting < this.setup.options.minRows) return this.standingMetrics();
    const held = new Map(this.coPlayers.map((coPlayer) => [coPlayer, this.heldTable(coPlayer)]));
    await Promise.all(this.coPlayers.map((coPlayer) => this.measure(coPlayer, held.get(coPlayer))));
    const tables = this.perNetwork((coPlayer) => held.get(coPlayer)?.table);
    const result = await this.train(tables, this.setup.options.epochs, generator, this.setup.options.learningRate);
    for (const coPlayer of this.coPlayers)
      this.standing('moa.update', coPlayer).seen = { ...this.buffer.pushed[coPlayer] };
    this.buffer.trained();
    if (this.updates % FLUSH_EVERY === 0) for (const { slots } of this.ready().members) slots.flushDenormals();
    this.updates++;
    return { ...trainingMetrics(result), ...this.standingMetrics() };
  }

  async pretrain(
    data: Experience | Readonly<Record<AgentId, NamedArrays>>,
    options: MoaPretrainOptions,
  ): Promise<readonly Metrics[]> {
    const settings = resolveMoaPretraining(options, this.setup.options);
    const { epochs, generator, learningRate, finalLearningRate, afterEpoch } = settings;
    if (this.coPlayers.length === 0) return [];
    const rows = pretrainingRows(data, this.setup);
    const tables = this.perNetwork(
      (coPlayer) => rows[coPlayer] && this.tableOf('moa.pretrain', coPlayer, rows[coPlayer]),
    );
    const history: Metrics[] = [];
    for (let epoch = 0; epoch < epochs; epoch++) {
      const rate = (progress: number) => learningRate + (finalLearningRate - learningRate) * progress;
      const [from, to] = [epoch, epoch + 1].map((done) => rate(done / epochs));
      const metrics = trainingMetrics(await this.train(tables, 1, generator, from, to));
      history.push(metrics);
      await afterEpoch?.(epoch, metrics);
    }
    return history;
  }

  async predict(coPlayer: AgentId, view: MoaView, goals?: Int32Array): Promise<Float32Array> {
    return (await this.answer('moa.predict', coPlayer, view, goals)).logProbs;
  }

  step(coPlayer: AgentId, view: MoaView, goals?: Int32Array) {
    return this.answer('moa.step', coPlayer, view, goals);
  }

  private async answer(where: string, coPlayer: AgentId, view: MoaView, goals?: Int32Array) {
    this.checkView(where, coPlayer, view, goals);
    const { net, encoder, game } = this.setup;
    const { rows, observations, masks, previousActions, state } = view;
    const everyone = previousActions ?? new Int32Array(rows * game.agents.length).fill(-1);
    const source = { rows, observations, masks, previousActions: everyone, extras: {} };
    const encoded = encoder.encode({ ...source, seat: this.seatOf(coPlayer), offset: 0, stride: 1 });
    const feeds: NamedArrays = { ...prefixed('in', encoded), mask: ndarray(masks, [rows, net.actions]) };
    if (net.goals > 0) feeds['goals'] = ndarray(goals as Int32Array);
    const memory = state ?? new Float32Array(rows * net.stateSize);
    if (net.stateSize > 0) feeds['state'] = ndarray(memory, [rows, net.stateSize]);
    const { logProbs, next } = await this.member(coPlayer).functions.act(feeds);
    return { logProbs: logProbs.data as Float32Array, state: (next?.data ?? memory) as Float32Array };
  }

  predictRows(coPlayer: AgentId, rows: NamedArrays): Promise<Float32Array> {
    const { net, game } = this.setup;
    this.standing('moa.predictRows', coPlayer);
    const table = this.tableOf('moa.predictRows', coPlayer, rows);
    return predictTable(this.member(coPlayer).functions.predict, net, table, game.maxSteps);
  }

  agent(coPlayer: AgentId, goalsOf?: GoalChoice): Agent<MoaAgentState> {
    this.standing('moa.agent', coPlayer);
    if (goalsOf !== undefined) checkFunction('moa.agent', 'goalsOf', goalsOf);
    const drawn: GoalChoice = (_row, _input, generator) => drawIndex(this.prior(coPlayer), generator);
    return modelledAgent(this, coPlayer, this.setup.net.actions, this.stateSize, goalsOf ?? drawn);
  }

  accuracy(coPlayer: AgentId): number {
    return this.standing('moa.accuracy', coPlayer).accuracy ?? 0;
  }

  goalCounts(coPlayer: AgentId): Float64Array {
    return this.standing('moa.goalCounts', coPlayer).counts.counts.slice();
  }

  prior(coPlayer: AgentId): Float64Array {
    return this.standing('moa.prior', coPlayer).counts.prior();
  }

  async parameters(coPlayer: AgentId): Promise<NamedArrays> {
    this.standing('moa.parameters', coPlayer);
    return this.member(coPlayer).params.read();
  }

  async state(): Promise<SavedState> {
    const standings = [...this.standings].map(([coPlayer, { counts, accuracy, seen }]) => {
      return [coPlayer, { counts: counts.state(), accuracy: accuracy ?? null, seen: { ...seen } }] as const;
    });
    return {
      networks: await this.ready().state(),
      buffer: this.buffer.state(),
      standings: Object.fromEntries(standings),
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
    const standings = saved['standings'] as unknown as Readonly<Record<AgentId, SavedCoPlayerStats>>;
    const networks = savedMoaNetworks(where, this.networkSetup(), saved['networks'] as SavedState);
    const counts = [...this.standings].map(([coPlayer, { counts: part }]) => {
      return { path: `saved.standings.${coPlayer}.counts`, part, saved: standings[coPlayer].counts };
    });
    const buffer = { path: 'saved.buffer', part: this.buffer, saved: saved['buffer'] as SavedState };
    const taken = await takeOverParts(where, [buffer, ...counts], networks, () => this.checkHeld(where));
    const before = { networks: this.networks, version: this.version, updates: this.updates };
    const known = [...this.standings].map(([, standing]) => [standing, { ...standing }] as const);
    this.networks = networks;
    this.version++;
    this.updates = saved['updates'] as number;
    for (const [coPlayer, standing] of this.standings) {
      const { accuracy, seen } = standings[coPlayer];
      Object.assign(standing, { accuracy: accuracy ?? undefined, seen: { ...seen } });
    }
    return {
      keep: () => before.networks?.dispose(),
      undo: async () => {
        networks.dispose();
        Object.assign(this, before);
        for (const [standing, earlier] of known) Object.assign(standing, earlier);
        await taken.undo();
      },
    };
  }

  /** Refuses rows of another game. */
  private checkHeld(where: string): void {
    for (const coPlayer of this.coPlayers) {
      const { columns } = this.buffer.held(coPlayer);
      if (Object.keys(columns).length === 0) continue;
      checkRowSpec(`${where}: saved.buffer.rings.${coPlayer}`, rowSpecOf(noMoaRows(this.setup.game)), columns);
    }
  }

  dispose(): void {
    this.networks?.dispose();
    this.networks = undefined;
  }

  /** Names of the networks: one for each co-player, or one for all of them. */
  private networkSetup(): MoaNetworkSetup {
    const { net, options, coPlayers } = this.setup;
    const names = options.share && coPlayers.length > 0 ? ['all'] : coPlayers;
    return { net, names, clipNorm: options.clipNorm, executor: options.executor };
  }

  /** The running networks. */
  ready(): MoaNetworks {
    const remedy = 'Call initialise(generator) or restore(saved) first.';
    return this.networks ?? fail(`moa (${this.id})`, 'parameters', 'none yet', remedy);
  }

  private member(coPlayer: AgentId) {
    const { members } = this.ready();
    return members[this.setup.options.share ? 0 : this.coPlayers.indexOf(coPlayer)];
  }

  private standing(where: string, coPlayer: AgentId): CoPlayerStats {
    const known = this.coPlayers.join(', ') || 'nobody';
    const remedy = `Name a co-player of ${this.id}.`;
    return this.standings.get(coPlayer) ?? fail(`${where}: coPlayer`, `one of ${known}`, show(coPlayer), remedy);
  }

  private seatOf(coPlayer: AgentId): number {
    return this.setup.game.agents.indexOf(coPlayer);
  }

  private tableOf(where: string, coPlayer: AgentId, rows: NamedArrays): MoaTable {
    checkMoaRows(where, this.setup.game, rows);
    return tableOf(this.setup.game, this.setup.encoder, this.seatOf(coPlayer), heldRows(rows));
  }

  private heldTable(coPlayer: AgentId): TrainingRows | undefined {
    const held = this.buffer.held(coPlayer);
    if (held.places.length === 0) return undefined;
    const table = tableOf(this.setup.game, this.setup.encoder, this.seatOf(coPlayer), held);
    return { table, serials: held.serials };
  }

  /** The data of each network. */
  private perNetwork(of: (coPlayer: AgentId) => MoaTable | undefined): (MoaTable | undefined)[] {
    const tables = this.coPlayers.map(of);
    if (!this.setup.options.share) return tables;
    const known = tables.filter((table) => table !== undefined);
    return [known.length === 0 ? undefined : joinTables(known)];
  }

  private async train(
    tables: readonly (MoaTable | undefined)[],
    epochs: number,
    generator: Generator,
    from: number,
    to = from,
  ): Promise<TrainingResult> {
    const { net, options, game } = this.setup;
    const updates = this.ready().members.map(({ functions }) => functions.update);
    const settings = { ...options, epochs, window: net.stateSize > 0 ? game.maxSteps : 0, goals: net.goals, from, to };
    const where = `moa (${this.id}), update ${this.updates + 1}`;
    const result = await train(where, updates, tables, settings, generator);
    this.version++;
    return result;
  }

  private newRows(coPlayer: AgentId): number {
    return this.buffer.pushed[coPlayer].rows - this.standing('moa.update', coPlayer).seen.rows;
  }

  /** Accuracy on the episodes that its model was not trained on yet. */
  private async measure(coPlayer: AgentId, held: TrainingRows | undefined): Promise<void> {
    if (!held) return;
    const { table, serials } = held;
    const { net, game } = this.setup;
    const { places, goals, lengths } = table.list;
    const { seen } = this.standing('moa.update', coPlayer);
    const old = serials.findIndex((serial) => serial >= seen.episodes);
    if (old < 0) return;
    const skipped = lengths.slice(0, old).reduce((sum, length) => sum + length, 0);
    const list = { places: places.slice(skipped), goals: goals.slice(skipped), lengths: lengths.slice(old) };
    const { predict } = this.member(coPlayer).functions;
    const logProbs = await predictTable(predict, net, { table: table.table, list }, game.maxSteps);
    const actions = Int32Array.from(list.places, (place) => table.table['actions'].data[place]);
    this.standing('moa.update', coPlayer).accuracy = topOne(logProbs, actions, net.actions);
  }

  private standingMetrics(): Metrics {
    const metrics: Metrics = {};
    const measured: number[] = [];
    let rows = 0;
    for (const [coPlayer, { accuracy }] of this.standings) {
      rows += this.buffer.rows[coPlayer];
      if (accuracy === undefined) continue;
      metrics[`moa/accuracy/${coPlayer}`] = accuracy;
      measured.push(accuracy);
    }
    if (measured.length > 0) metrics['moa/accuracy'] = measured.reduce((sum, one) => sum + one, 0) / measured.length;
    return { ...metrics, 'moa/rows': rows };
  }

  private checkView(where: string, coPlayer: AgentId, view: MoaView, goals: Int32Array | undefined): void {
    const { net, options, game } = this.setup;
    this.standing(where, coPlayer);
    checkRecord(where, 'view', view);
    const { rows, observations, masks, previousActions, state } = view;
    checkCount(where, 'view.rows', rows);
    checkObservationArrays(where, 'view.observations', game, observations, rows);
    checkTypedArray(where, 'view.masks', masks, 'uint8', rows * net.actions);
    if (previousActions !== undefined || options.previousActions) {
      checkTypedArray(where, 'view.previousActions', previousActions, 'int32', rows * game.agents.length);
    }
    if (state !== undefined) checkTypedArray(where, 'view.state', state, 'float32', rows * net.stateSize);
    if (net.goals === 0 && goals === undefined) return;
    checkTypedArray(where, 'goals', goals, 'int32', rows);
  }
}

sharedAmongCopies(MoaModels, '@coplay/trainers/MoaModels@0.1');

function trainingMetrics({ means, steps }: TrainingResult): Metrics {
  return { ...(means && { 'moa/loss': means.loss, 'moa/gradient_norm': means.gradientNorm }), 'moa/steps': steps };
}
