import { checkGame, checkOptions, fail, type Game, type Generator, type Metrics, show } from '@coplay/core';
import { checkRecord, functions } from '@coplay/core/checks';
import { cellsWorldModel, observationsWorldModel, type WorldModel, type WorldModelBuilder } from '@coplay/models';
import type { ExecutorChoice } from '@coplay/tensor';
import { z } from 'zod';

/** Options of {@link createWorldModel}. */
export interface WorldModelOptions {
  /** The rules; `game.grid` defines the parts of a state, where it exists. */
  readonly game: Game;
  /**
   * `cellsWorldModel()`, `planesWorldModel()`, `observationsWorldModel()`, or a builder of a model of your own. Default
   * `cellsWorldModel()` for games with grid parts, `observationsWorldModel()` for all others
   */
  readonly model?: WorldModelBuilder;
  /** N, models that learn apart and take turns in imagination, 1 to 32. Default 1 */
  readonly members?: number;
  /** Step size of Adam, positive. Default 3e-3; 1e-3 for `observationsWorldModel` */
  readonly learningRate?: number;
  /** Transitions of a minibatch, at least 1. Default 256 */
  readonly batchSize?: number;
  /**
   * Share of an update's minibatches, in [0, 1), that is drawn by outcome (`createOutcomeStore`), so that what hardly
   * ever happens is learned and isn't forgotten. Leave it at 0 where the same step may pay differently: it exaggerates
   * the rare outcome. Default 0
   */
  readonly outcomeShare?: number;
  /** Gradient steps of each member in an update, at least 1. Default 32 */
  readonly stepsPerUpdate?: number;
  /** Bound of the gradient's norm, above 0. Default 10 */
  readonly clipNorm?: number;
  /** Transitions held at most; new ones take the place of the oldest. Default 50,000 */
  readonly capacity?: number;
  /**
   * The seat whose observations the transitions of a grid game are read from; all seats see the same. Models of
   * observations refuse it. Default 0
   */
  readonly seat?: number;
  /** New transitions that are predicted, at most, to measure accuracy before they are learned from. Default 512 */
  readonly scoredPerUpdate?: number;
  /** Transitions that the running accuracy reaches back over, about. Default 2,000 */
  readonly accuracyWindow?: number;
  /**
   * `auto` takes the fastest executor; `onnx` insists on compiled graphs, `eager` runs operation by operation. Default
   * `auto`
   */
  readonly executor?: ExecutorChoice;
}

/** Everything that's fixed before the first parameter is drawn. */
export interface WorldModelSetup extends z.infer<typeof schema> {
  readonly learningRate: number;
  readonly model: WorldModel;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The schema of {@link WorldModelOptions}, without `game` and `model`. */
const schema = z.strictObject({
  members: z.int().min(1).max(32).default(1),
  learningRate: z.number().positive().optional(),
  batchSize: z.int().min(1).default(256),
  outcomeShare: z.number().min(0).lt(1).default(0),
  stepsPerUpdate: z.int().min(1).default(32),
  clipNorm: z.number().positive().default(10),
  capacity: z.int().min(1).default(50_000),
  seat: z.int().min(0).default(0),
  scoredPerUpdate: z.int().min(1).default(512),
  accuracyWindow: z.int().min(1).default(2000),
  executor: z.enum(['auto', 'onnx', 'wasm', 'eager']).default('auto'),
});

/** Checks options and builds the model. */
export function worldModelSetup(given: WorldModelOptions): WorldModelSetup {
  const where = 'createWorldModel';
  checkRecord(where, 'options', given);
  checkModelOptions(where, given);
  const { game, model: builder, ...options } = given;
  checkGame(`${where}: option game`, game, 'discrete', 'play');
  const checked = checkOptions(where, schema, options, ['game', 'model']);
  if (checked.seat >= game.agents.length) {
    const expected = `a seat from 0 to ${game.agents.length - 1}`;
    fail(`${where}: option seat`, expected, String(checked.seat), 'Give a seat of the game.');
  }
  if (builder !== undefined && typeof builder !== 'function') {
    const expected = 'observationsWorldModel(), cellsWorldModel(), or a function that makes a model of a game';
    fail(`${where}: option model`, expected, show(builder), 'Give a builder.');
  }
  const model = (builder ?? (game.grid ? cellsWorldModel() : observationsWorldModel()))(game);
  if (options.seat !== undefined && model.data !== 'grid') {
    const expected = 'no seat for a model of observations, which learns from those of all agents';
    const remedy = 'Leave it out; only models of grid games read the observations of one seat.';
    fail(`${where}: option seat`, expected, String(checked.seat), remedy);
  }
  // Numbers are predicted with squared errors, in which larger steps show as noise.
  const { learningRate = model.kind === 'observations' ? 1e-3 : 3e-3 } = checked;
  const numbers = { ...checked, learningRate };
  return { ...numbers, model, config: { algorithm: 'world-model', ...numbers, model: model.config } };
}

/** Names of the options that an agent with a world model takes for it. */
export const worldModelNames = ['model', ...Object.keys(schema.shape).filter((name) => name !== 'executor')];

/** Options of `observationsWorldModel` that are easily given to the learner instead. */
const OF_MODEL = ['view', 'history', 'historyUnits', 'tolerance', 'contrastive', 'network'];

/** Refuses options of the model among those of its learner. */
export function checkModelOptions(where: string, options: unknown): void {
  if (typeof options !== 'object' || options === null) return;
  const name = OF_MODEL.find((other) => other in options);
  if (name === undefined) return;
  const remedy = `Give it to the model: { model: observationsWorldModel({ ${name}: ... }) }.`;
  fail(where, 'options of createWorldModel', `${show(name)}, an option of observationsWorldModel`, remedy);
}

/** Options of {@link WorldModelLearner.pretrain}. */
export interface PretrainOptions {
  /** Gradient steps of each member, at least 1 */
  readonly steps: number;
  /** For minibatches and the members' shares. */
  readonly generator: Generator;
  /** Step size at the start, positive. Default: that of the learner */
  readonly learningRate?: number | undefined;
  /** Whether the step size falls to 0, in a straight line. Default true */
  readonly anneal?: boolean | undefined;
  /** Receives the metrics of every 64 steps. */
  readonly onProgress?: ((steps: number, metrics: Metrics) => void) | undefined;
}

/** The schema of {@link PretrainOptions}; the generator is checked apart. */
export const pretrainSchema = z.strictObject({
  generator: z.unknown(),
  onProgress: functions<NonNullable<PretrainOptions['onProgress']>>().optional(),
  steps: z.int().min(1),
  learningRate: z.number().positive().optional(),
  anneal: z.boolean().default(true),
});

/** Options of {@link WorldModelLearner.simulator}. */
export interface SimulatorOptions {
  /**
   * Whether outcomes are drawn from the model's prediction, or are the most probable ones: for games without chance.
   * Default true
   */
  readonly sample?: boolean;
}

/** The schema of {@link SimulatorOptions}. */
export const simulatorSchema = z.strictObject({ sample: z.boolean().default(true) });
