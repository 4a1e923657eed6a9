import type { HistoryStore } from '@coplay/buffers';
import {
  type ActionSpace,
  type ActionSpaces,
  type AgentId,
  type AnyGame,
  checkGame,
  checkOptions,
  type DType,
  fail,
  type Game,
  type Generator,
  type Metrics,
  show,
} from '@coplay/core';
import { checkRecord } from '@coplay/core/checks';
import {
  canCentre,
  type InputEncoder,
  inputEncoder,
  type MoaNet,
  mlp,
  moaNet,
  type TorsoBuilder,
} from '@coplay/models';
import type { ExecutorChoice } from '@coplay/tensor';
import { z } from 'zod';
import { type ActionDistribution, actionDistribution } from '../training/action-distribution';
import { unit } from '../training/annealed';
import { checkStore } from '../training/check-calls';
import { commonSpace } from '../training/inputs';

/** Options of {@link createMoa}. */
export interface MoaOptions<Spaces extends ActionSpaces = number> {
  /** The rules that all play by. All co-players need the same actions. */
  readonly game: Game<DType, Spaces>;
  /** The observer: one of `game.agents`. All others are modelled. */
  readonly id: AgentId;
  /**
   * The condition of predictions in addition to the co-player's observation: the goal that it reached in `hindsight`
   * (Huang et al. 2024), or `none`, a plain model. `hindsight` is for discrete actions. Default `hindsight` where the
   * game names goals and actions are discrete, else `none`
   */
  readonly goals?: 'hindsight' | 'none';
  /**
   * Share of rows, in [0, 1], that are shown with an unknown goal in training, so that one model predicts without a
   * goal too. Default 0.1
   */
  readonly unknownShare?: number;
  /**
   * Body of the networks. Default `mlp({ hidden: [256, 256], activation: 'relu' })`, a tenth of the time of the
   * paper's, `conv({ dense: 512 })`
   */
  readonly network?: TorsoBuilder;
  /** Units of a GRU over the co-player's episode; 0 for a model of the present step. Default 0 */
  readonly recurrent?: number;
  /** Whether the models read everyone's previous action. Default false */
  readonly previousActions?: boolean;
  /**
   * Whether images are moved so that the co-player is in the middle (`centredEncoder`): needs far fewer rows, four
   * times as many inputs. Default false
   */
  readonly centred?: boolean;
  /** One network for all co-players, trained on the rows of all of them, in place of one for each. Default false */
  readonly share?: boolean;
  /** Rows held of each co-player. Default 4096 */
  readonly capacity?: number;
  /**
   * What becomes of rows that were trained on: `ring` keeps the newest, `empty` drops all (as the paper's code does).
   * Default `ring`
   */
  readonly keep?: 'ring' | 'empty';
  /**
   * Whether rows of each goal, and those without one, have room of their own (capacity / (G + 1)): a goal that is
   * hardly ever shown isn't forgotten. Default true
   */
  readonly roomPerGoal?: boolean;
  /**
   * Whether beginnings of episodes that end with a goal tried for in vain are learned from too, as ones with that goal;
   * see `attemptRows`. Default false
   */
  readonly attempts?: boolean;
  /**
   * Leaves out episodes in which a co-player reached no goal (as the paper's code does). Default false: their goal is
   * unknown
   */
  readonly caughtOnly?: boolean;
  /** New rows of a co-player, at least 1, that an update waits for. Default 512 */
  readonly minRows?: number;
  /**
   * Passes over the rows held in an update, at least 1; up to 16 minibatches are rounded up to a power of two. Default
   * 1
   */
  readonly epochs?: number;
  /** Rows of a minibatch (of a recurrent model: steps, about). Default 512 */
  readonly minibatchSize?: number;
  /** Step size of Adam, positive. Default 5e-4 */
  readonly learningRate?: number;
  /** Bound of the gradient's norm; false for none. Default false */
  readonly clipNorm?: number | false;
  /** Discount per episode, in (0, 1], of the counts of goals shown. Default 0.995 */
  readonly goalDiscount?: number;
  /**
   * A store of histories that other models of the same observer read too (`createHistoryStore` of `@coplay/buffers`).
   * Then experience is pushed to the store, once; `capacity` and `keep` are these models' own. Default: memory of their
   * own
   */
  readonly store?: HistoryStore | undefined;
  /**
   * `auto` takes the fastest executor; `onnx` insists on compiled graphs, `eager` runs operation by operation. Default
   * `auto`
   */
  readonly executor?: ExecutorChoice;
}

const builder = z.custom<TorsoBuilder>((value) => typeof value === 'function', {
  error: 'a network: mlp(), conv(), or layersModel(() => yourModel)',
});

/** The schema of {@link MoaOptions}, without `game` and `id`. */
export const moaSchema = z.strictObject({
  goals: z.enum(['hindsight', 'none']).optional(),
  unknownShare: unit.default(0.1),
  network: builder.optional(),
  recurrent: z.int().min(0).default(0),
  previousActions: z.boolean().default(false),
  centred: z.boolean().default(false),
  share: z.boolean().default(false),
  capacity: z.int().min(1).default(4096),
  keep: z.enum(['ring', 'empty']).default('ring'),
  caughtOnly: z.boolean().default(false),
  roomPerGoal: z.boolean().default(true),
  attempts: z.boolean().default(false),
  minRows: z.int().min(1).default(512),
  epochs: z.int().min(1).default(1),
  minibatchSize: z.int().min(1).default(512),
  learningRate: z.number().positive().default(5e-4),
  clipNorm: z.union([z.number().positive(), z.literal(false)]).default(false),
  goalDiscount: unit.positive().default(0.995),
  store: z.custom<HistoryStore>().optional(),
  executor: z.enum(['auto', 'onnx', 'wasm', 'eager']).default('auto'),
});

/** {@link MoaOptions} with the defaults filled in. */
type ResolvedMoaOptions = Omit<z.infer<typeof moaSchema>, 'goals' | 'network'> & {
  readonly goals: 'hindsight' | 'none';
  readonly network: TorsoBuilder;
};

/**
 * Defaults of the models in HOP and HOP+: a goal that is hardly ever reached is learned by one network from all
 * co-players, and from attempts that failed. From images that aren't centred it learns such a goal too late: agents
 * have settled on the easy one by then.
 */
export function moaDefaults(game: Game) {
  return { share: true, attempts: !game.goals?.readsStates, centred: canCentre(game) };
}

/** Checks the options and fills in the defaults. */
function resolveMoaOptions(given: MoaOptions<ActionSpaces>): ResolvedMoaOptions {
  checkRecord('createMoa', 'options', given);
  const { id, ...options } = given;
  const game = given.game as AnyGame;
  checkGame('createMoa: option game', game, 'any', 'play');
  if (!game.agents.includes(id)) {
    fail('createMoa: option id', `one of ${game.agents.join(', ')}`, show(id), 'Use an id of game.agents.');
  }
  const { game: _, ...rest } = options;
  const checked = checkOptions('createMoa', moaSchema, rest, ['game', 'id']);
  const isDiscrete = typeof game.actions === 'number';
  const goals = checked.goals ?? (game.goals && isDiscrete ? 'hindsight' : 'none');
  if (goals === 'hindsight' && !game.goals) {
    const remedy = 'Leave it out, or give the game goals ("Goals" in docs/writing-an-environment.md).';
    fail('createMoa: option goals', `none for ${game.name}, which names no goals`, show(goals), remedy);
  }
  if (goals === 'hindsight' && !isDiscrete) {
    const remedy = 'Leave it out: goals are recognised by discrete actions (docs/spaces.md).';
    fail('createMoa: option goals', `none for ${game.name}, whose actions are not one number`, show(goals), remedy);
  }
  if (checked.attempts && goals === 'hindsight' && game.goals?.readsStates) {
    const remedy =
      'Leave it out: only an action and an observation show an attempt ("Goals" in docs/writing-an-environment.md).';
    fail('createMoa: option attempts', `false for ${game.name}, whose goals read states`, 'true', remedy);
  }
  const { store } = checked;
  if (store) checkStore('createMoa', store, game as Game, id);
  checkCapacity(game, checked, goals === 'hindsight' && checked.roomPerGoal ? (game.goals?.names.length ?? 0) + 1 : 1);
  const network = checked.network ?? mlp({ hidden: [256, 256], activation: 'relu' });
  return { ...checked, goals, network };
}

/** An episode must fit into the room that it has. */
function checkCapacity(game: AnyGame, { capacity }: { readonly capacity: number }, rooms: number): void {
  const least = game.maxSteps * rooms;
  if (capacity >= least) return;
  const why = rooms > 1 ? `${rooms} times maxSteps, for roomPerGoal shares it` : 'maxSteps';
  fail('createMoa: option capacity', `at least ${least}: ${why}`, String(capacity), 'Give more.');
}

/** Everything that's fixed before the first parameter is drawn. */
export interface MoaSetup {
  readonly game: AnyGame;
  readonly id: AgentId;
  readonly coPlayers: readonly AgentId[];
  /** The actions of each co-player. */
  readonly space: ActionSpace;
  /** Over that space, as the network predicts it. */
  readonly distribution: ActionDistribution;
  readonly options: ResolvedMoaOptions;
  readonly encoder: InputEncoder;
  readonly net: MoaNet;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Checks the options and makes the network. Nothing here is random or touches a tensor. */
export function moaSetup(given: MoaOptions<ActionSpaces>): MoaSetup {
  const options = resolveMoaOptions(given);
  const { id } = given;
  const game = given.game as AnyGame;
  const coPlayers = game.agents.filter((other) => other !== id);
  const space = spaceOf(game, id, coPlayers);
  const goals = options.goals === 'hindsight' ? game.goals : undefined;
  const { previousActions, unknownShare, network, recurrent } = options;
  const encoder = inputEncoder(game, { previousActions, centred: options.centred });
  const net = moaNet({
    inputs: encoder.shapes,
    actions: space,
    goals: goals?.names.length ?? 0,
    unknownGoal: unknownShare > 0,
    network,
    recurrent,
  });
  const { executor: _, network: __, store: ___, ...numbers } = options;
  const config = { ...numbers, network: network.config, game: game.name };
  const distribution = actionDistribution(space, { squash: false });
  return { game, id, coPlayers, space, distribution, options, encoder, net, config };
}

/** The actions of co-players, which must be the same; without any, those of the observer. */
function spaceOf(game: AnyGame, id: AgentId, coPlayers: readonly AgentId[]): ActionSpace {
  const remedy = 'Give all co-players one space in the game; of discrete actions the largest number, and mask.';
  return commonSpace('createMoa: option game', game, coPlayers.length > 0 ? coPlayers : [id], remedy);
}

/** How a model is trained on a data set. */
export interface MoaPretrainOptions {
  /** For shuffling. */
  readonly generator: Generator;
  /** Passes over the data, at least 1. Default 10 */
  readonly epochs?: number;
  /** Learning rate at the start, at least 0. Default: that of the models' options */
  readonly learningRate?: number;
  /** Learning rate at the end, which is reached linearly; at least 0. Default: that at the start */
  readonly finalLearningRate?: number;
  /** Called after each epoch, counted from 0: to evaluate, or to log. */
  readonly afterEpoch?: (epoch: number, metrics: Metrics) => void | Promise<void>;
}

const isFunction = (value: unknown) => typeof value === 'function';
const pretrainSchema = z.strictObject({
  generator: z.custom<Generator>((value) => typeof (value as Generator | undefined)?.shuffle === 'function', {
    error: 'a generator: createGenerator(seed)',
  }),
  epochs: z.int().min(1).default(10),
  learningRate: z.number().min(0).optional(),
  finalLearningRate: z.number().min(0).optional(),
  afterEpoch: z.custom<MoaPretrainOptions['afterEpoch']>(isFunction, { error: 'a function' }).optional(),
});

/** Checks the options and fills in the defaults; `rate` is the learning rate at a progress in [0, 1]. */
export function resolveMoaPretraining(options: MoaPretrainOptions, defaults: { readonly learningRate: number }) {
  const checked = checkOptions('moa.pretrain', pretrainSchema, options);
  const { learningRate = defaults.learningRate } = checked;
  const { finalLearningRate = learningRate } = checked;
  const rate = (progress: number) => learningRate + (finalLearningRate - learningRate) * progress;
  return { ...checked, rate };
}
