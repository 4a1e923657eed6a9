import {
  createOutcomeStore,
  createTransitionStore,
  gridTransitions,
  type OutcomeStore,
  observationTransitions,
  type TransitionStore,
} from '@coplay/buffers';
import {
  allocate,
  checkOptions,
  type Experience,
  fail,
  type Generator,
  type GeneratorState,
  generatorFrom,
  type Metrics,
  type NamedArrays,
  type SavedState,
  type Simulator,
  show,
  vectorEnv,
} from '@coplay/core';
import {
  checkArgument,
  checkExperienceOf,
  checkGenerator,
  checkNumbers,
  checkRecord,
  namedArrays,
  restorePart,
} from '@coplay/core/checks';
import { checkRowSpec, concatRows, gatherRows, mean, nonZero, rowSpecOf } from '@coplay/core/rows';
import type { WorldModel } from '@coplay/models';
import { z } from 'zod';
import { differences } from '../training/differences';
import { type Takeover, takeOverParts } from '../training/restore';
import { pretrainOn, trainOn, type WorldModelNetworks, worldModelNetworks } from './algorithm';
import type { WorldModelLearner, WorldModelPrediction } from './contract';
import { expectation, type Imagine, modelSimulator } from './imagine';
import {
  type PretrainOptions,
  type SimulatorOptions,
  simulatorSchema,
  type WorldModelOptions,
  type WorldModelSetup,
  worldModelSetup,
} from './options';
import { RunningScore, type Score, scoreRows } from './score';
import { checkTransitions, hasWholePast } from './transitions';

/**
 * A learner of a world model: (state, joint action) to next state, rewards and who has ended.
 *
 * @throws CoplayError for unknown options, and for a game that the kind of model can't be made of
 */
export function createWorldModel(options: WorldModelOptions): WorldModelLearner {
  return new Learner(worldModelSetup(options));
}

const savedSchema = z.looseObject({
  model: z.looseObject({}).optional(), // there is none in states that were saved before it was kept
  members: z.array(z.looseObject({ params: namedArrays, slots: namedArrays })),
  store: z.looseObject({ rows: namedArrays }),
  outcomes: z.looseObject({ rooms: z.array(z.looseObject({ room: z.looseObject({ rows: namedArrays }) })) }),
  shares: z.array(z.number()),
  fresh: namedArrays.nullable(),
  score: z
    .array(z.number().min(0))
    .length(3)
    .refine(([rows, exact]) => exact <= rows, 'at most as many exact transitions (the second number) as transitions'),
  updates: z.int().min(0),
});

/** The transitions in the saved state. */
interface SavedRows {
  readonly store: { readonly rows: NamedArrays };
  readonly outcomes: { readonly rooms: readonly { readonly room: { readonly rows: NamedArrays } }[] };
  readonly fresh: NamedArrays | null;
}

/** Transitions, drawn by outcome, that an update is measured on. */
const OUTCOMES_SCORED = 64;

class Learner implements WorldModelLearner {
  readonly store: TransitionStore;
  private readonly outcomes: OutcomeStore = createOutcomeStore();
  updates = 0;
  private readonly networks: WorldModelNetworks;
  /** Draws the members' shares of pushed transitions. */
  private shares: Generator | undefined;
  private fresh: NamedArrays | undefined;
  private readonly score: RunningScore;
  /** Shapes of the columns that the model reads, without the first dimension. */
  private readonly rowShapes: readonly (readonly [name: string, shape: readonly number[]])[];

  constructor(private readonly setup: WorldModelSetup) {
    this.networks = worldModelNetworks(setup);
    this.store = createTransitionStore({ capacity: setup.capacity, members: setup.members });
    this.score = new RunningScore(setup.accuracyWindow);
    this.rowShapes = rowShapesOf(setup.model);
  }

  get model() {
    return this.setup.model;
  }

  get config() {
    return this.setup.config;
  }

  get accuracy() {
    return this.score.accuracy;
  }

  get rewardError() {
    return this.score.rewardError;
  }

  async initialise(generator: Generator): Promise<void> {
    checkGenerator('worldModel.initialise', generator);
    if (this.networks.isReady) return;
    this.networks.initialise(generator.fork());
    this.shares = generator.fork();
  }

  push(experience: Experience): void {
    const { shares } = this;
    this.networks.running();
    const rows = this.transitionsOf('worldModel.push', experience);
    this.checkLength('worldModel.push', experience);
    if (rows['rewards'].shape[0] === 0 || !shares) return;
    this.store.push(rows, shares);
    this.outcomes.push(rows);
    const few = subsample(rows, this.setup.scoredPerUpdate);
    this.fresh = subsample(this.fresh ? concatRows([this.fresh, few]) : few, this.setup.scoredPerUpdate);
  }

  async update(generator: Generator): Promise<Metrics> {
    checkGenerator('worldModel.update', generator);
    const networks = this.networks.running();
    const measured = this.fresh ? await this.measure(this.fresh) : undefined;
    this.fresh = undefined;
    if (this.store.size === 0) return {};
    const { stepsPerUpdate: steps, learningRate, outcomeShare: share } = this.setup;
    const where = `world model, update ${this.updates + 1}`;
    const outcomes = { store: this.outcomes, share };
    const data = { store: this.store, outcomes };
    const learned = await trainOn(where, this.setup, networks, data, { steps, learningRate }, generator);
    networks.tidy(this.updates);
    this.updates++;
    return {
      ...learned,
      ...measured,
      'world_model/accuracy_by_outcome': await this.accuracyByOutcome(generator),
      'world_model/transitions': this.store.size,
      'world_model/pushed': this.store.pushed,
    };
  }

  async pretrain(data: Experience | NamedArrays, options: PretrainOptions): Promise<Metrics> {
    this.networks.running();
    checkRecord('worldModel.pretrain', 'data', data);
    const rows = isExperience(data) ? this.transitionsOf('worldModel.pretrain', data) : data;
    this.checkRows('worldModel.pretrain', 'data', rows, ['rewards']);
    checkNumbers('worldModel.pretrain', 'data.rewards', rows['rewards'].data);
    checkTransitions('worldModel.pretrain: data', this.setup.model, rows);
    this.setup.model.check?.(rows);
    return pretrainOn(this.setup, this.networks, rows, options);
  }

  async predict(rows: NamedArrays): Promise<WorldModelPrediction> {
    this.networks.running();
    this.checkRows('worldModel.predict', 'rows', rows);
    checkTransitions('worldModel.predict: rows', this.setup.model, rows);
    return this.predicted(rows);
  }

  /** The members' predictions, with the parameters of the moment, from the inputs before a step. */
  private readonly imagine: Imagine = (rows) => {
    const isInput = (name: string) => name !== 'rewards' && !name.startsWith('next/');
    const inputs = Object.fromEntries(Object.entries(rows).filter(([name]) => isInput(name)));
    return this.networks.functions.imagine(inputs) as Promise<NamedArrays>;
  };

  private async predicted(rows: NamedArrays): Promise<WorldModelPrediction> {
    const { model, members } = this.setup;
    const { imagined, disagreement } = await expectation(this.imagine, members, rows);
    const planes = model.planes?.(imagined, rows);
    return { happened: model.decode(imagined, rows), imagined, disagreement, ...(planes && { planes }) };
  }

  transitions(experience: Experience): NamedArrays {
    return this.transitionsOf('worldModel.transitions', experience);
  }

  private transitionsOf(where: string, experience: Experience): NamedArrays {
    checkExperienceOf(where, this.setup.model.game, experience);
    const { model, seat } = this.setup;
    const { game, source = game, history = 0, ownView } = model;
    checkNumbers(where, 'experience.rewards', experience.rewards);
    const seen = () => withWholePast(observationTransitions(experience, { game: source, history }), history);
    const rows = model.data === 'grid' ? gridTransitions(game, experience, seat) : seen();
    const own = ownView ? ownView.rows(rows) : rows;
    model.check?.(own);
    return own;
  }

  simulator(options: SimulatorOptions = {}): Simulator {
    const checked = checkOptions('worldModel.simulator', simulatorSchema, options);
    return modelSimulator(this.setup.model, this.setup.members, this.imagine, checked);
  }

  async parameters(): Promise<NamedArrays[]> {
    return Promise.all(this.networks.members.map(({ params }) => params.read()));
  }

  async state(): Promise<SavedState> {
    return {
      model: describe(this.setup.model),
      members: Object.values(await this.networks.readMembers()),
      store: this.store.state(),
      outcomes: this.outcomes.state(),
      shares: [...this.shares!.state()],
      fresh: this.fresh ?? null,
      score: this.score.state(),
      updates: this.updates,
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for learners that consist of several. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const where = 'worldModel.restore';
    checkArgument(where, 'saved', savedSchema, saved);
    this.checkModel(where, saved['model']);
    const members = saved['members'] as readonly SavedState[];
    if (members.length !== this.setup.members) {
      const remedy = 'Make the world model with the options that it was saved with.';
      fail(where, `${this.setup.members} members`, String(members.length), remedy);
    }
    const shares = restorePart(`${where}: saved.shares`, () => {
      return generatorFrom(saved['shares'] as unknown as GeneratorState);
    });
    this.checkSavedRows(where, saved);
    const store = { path: 'saved.store', part: this.store, saved: saved['store'] as SavedState };
    const outcomes = { path: 'saved.outcomes', part: this.outcomes, saved: saved['outcomes'] as SavedState };
    const networks = this.networks.takeOver(where, 'saved.members', Object.fromEntries(members.entries()));
    const taken = await takeOverParts(where, [store, outcomes], networks);
    const before = { shares: this.shares, fresh: this.fresh, updates: this.updates };
    const score = this.score.state();
    this.shares = shares;
    this.fresh = (saved['fresh'] ?? undefined) as NamedArrays | undefined;
    this.score.restore(saved['score'] as readonly number[]);
    this.updates = saved['updates'] as number;
    return {
      keep: taken.keep,
      undo: async () => {
        Object.assign(this, before);
        this.score.restore(score);
        await taken.undo();
      },
    };
  }

  dispose(): void {
    this.networks.dispose();
  }

  /**
   * Refuses rows of another form than the model reads.
   *
   * @param outcomes  further columns [N, A] that they must have; [N, 1] of own views
   */
  private checkRows(where: string, argument: string, rows: NamedArrays, outcomes: readonly string[] = []): void {
    checkArgument(where, argument, namedArrays, rows);
    const { game, ownView } = this.setup.model;
    const shapes = this.rowShapes;
    const N = rows[shapes[0][0]]?.shape[0] ?? 0;
    const width = ownView ? 1 : game.agents.length;
    for (const [name, shape] of [...shapes, ...outcomes.map((name) => [name, [width]] as const)]) {
      const expected = [N, ...shape].join(', ');
      const got = rows[name]?.shape;
      if (got?.join(', ') === expected) continue;
      fail(`${where}: ${argument}.${name}`, `an array [${expected}]`, show(got), 'Give what transitions() made.');
    }
  }

  /** Refuses batches that are too short for the history: the model would learn only the beginnings of episodes. */
  private checkLength(where: string, experience: Experience): void {
    const { history = 0, game } = this.setup.model;
    const { envs, steps, active } = experience;
    if (Math.min(history, game.maxSteps - 1) < steps) return;
    const A = game.agents.length;
    for (let step = 0; step < envs * steps; step++) {
      const isPlayed = active.subarray(step * A, (step + 1) * A).includes(1);
      if (!isPlayed || hasWholePast(experience, step, history)) continue;
      const remedy = 'Collect more steps (option steps of selfPlay), or give the model a shorter history.';
      fail(`${where}: experience.steps`, `more steps than the model's history of ${history}`, String(steps), remedy);
    }
  }

  /** Refuses the parameters of another model: of equal shapes, they would give wrong numbers. */
  private checkModel(where: string, saved: unknown): void {
    const [first] = saved === undefined ? [] : differences(saved, describe(this.setup.model));
    if (!first) return;
    const remedy = 'Make the world model with the game and the options that it was saved with.';
    fail(`${where}: saved.model.${first.path}`, show(first.ours), show(first.theirs), remedy);
  }

  /** All pushed rows have the same fields, the model's inputs have its shapes, and a game can give the numbers. */
  private checkSavedRows(where: string, saved: SavedState): void {
    const { store, outcomes, fresh } = saved as unknown as SavedRows;
    if (Object.keys(store.rows).length > 0) this.checkRows(where, 'saved.store.rows', store.rows, ['rewards']);
    const fields = rowSpecOf(store.rows);
    const checkHeld = (path: string, rows: NamedArrays) => {
      checkRowSpec(`${where}: ${path}`, fields, rows);
      checkTransitions(`${where}: ${path}`, this.setup.model, rows);
      if (Object.keys(rows).length > 0) restorePart(`${where}: ${path}`, () => this.setup.model.check?.(rows));
    };
    checkHeld('saved.store.rows', store.rows);
    outcomes.rooms.forEach(({ room }, i) => {
      checkHeld(`saved.outcomes.rooms[${i}].room.rows`, room.rows);
    });
    if (fresh) checkHeld('saved.fresh', fresh);
  }

  /** On rows that were learned from already: it tells whether rare outcomes are known at all. */
  private async accuracyByOutcome(generator: Generator): Promise<number> {
    const rows = this.outcomes.sample(generator, OUTCOMES_SCORED);
    return mean(this.scored((await this.predicted(rows)).happened, rows).exact);
  }

  private scored(happened: NamedArrays, rows: NamedArrays): Score {
    const { agrees, ownView } = this.setup.model;
    return scoreRows(happened, rows, agrees, ownView !== undefined);
  }

  private async measure(rows: NamedArrays): Promise<Metrics> {
    const { happened, disagreement } = await this.predicted(rows);
    const score = this.scored(happened, rows);
    this.score.add(score);
    const isEnsemble = this.setup.members > 1;
    return {
      'world_model/accuracy': this.accuracy,
      'world_model/new_accuracy': mean(score.exact),
      'world_model/reward_error': this.rewardError,
      ...(isEnsemble && { 'world_model/disagreement': mean(disagreement) }),
    };
  }
}

/** As JSON: what a model's parameters mean. */
function describe({ config, data, game }: WorldModel): SavedState {
  const observation = Object.entries(game.observation).map(([name, { channels: _, ...field }]) => [name, field]);
  const fields = data === 'observations' ? { observation: Object.fromEntries(observation) } : {};
  return JSON.parse(JSON.stringify({ ...config, ...fields })) as SavedState;
}

/**
 * Leaves out steps whose past L steps are partly before the experience. Steps at an episode's beginning have fewer past
 * steps; they stay.
 */
function withWholePast(rows: NamedArrays, history: number): NamedArrays {
  if (history === 0) return rows;
  const { data } = rows['past/actions']; // [N, L, A]
  const elapsed = rows['elapsed'].data;
  const agents = data.length / (elapsed.length * history);
  const isWhole = elapsed.map((played, row) => {
    const oldest = row * history + history - Math.min(played, history);
    return played === 0 || data.subarray(oldest * agents, (oldest + 1) * agents).some((action) => action >= 0) ? 1 : 0;
  });
  return gatherRows(rows, nonZero(isWhole));
}

function isExperience(data: Experience | NamedArrays): data is Experience {
  return 'cuts' in data && 'isImagined' in data;
}

/** At most so many rows, evenly spread. */
function subsample(rows: NamedArrays, most: number): NamedArrays {
  const count = rows['rewards'].shape[0];
  if (count <= most) return rows;
  return gatherRows(
    rows,
    Int32Array.from({ length: most }, (_, i) => Math.floor((i * count) / most)),
  );
}

/** Shapes of a model's columns, without the first dimension, from a state of its game. */
function rowShapesOf(model: WorldModel): readonly (readonly [name: string, shape: readonly number[]])[] {
  const { game, data } = model;
  // Observations may be all zeros; they may be those of an external game, which has no first state.
  const isSeen = data === 'observations';
  const states = isSeen ? allocate(game.stateType, game.stateSize) : vectorEnv(game, { envs: 1 }).states;
  const columns = model.encode(states, new Int32Array(game.agents.length));
  return Object.entries(columns).map(([name, { shape }]) => [name, shape.slice(1)] as const);
}
