import {
  type ActionArray,
  type ActionSpace,
  type AgentId,
  type AnyGame,
  allocate,
  checkGame,
  checkOptions,
  createGenerator,
  fail,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import { actionLayout, drawAction, isSameSpace, maskSizeOf } from '@coplay/core/arrays';
import { type InputEncoder, type InputOptions, inputEncoder, type SeenGame, type TorsoBuilder } from '@coplay/models';
import { type DreamerNets, type DreamerSize, dreamerNets, dreamerObservations } from '@coplay/models/dreamer';
import type { ExecutorChoice } from '@coplay/tensor';
import { z } from 'zod';
import { checkFields, checkId, commonSpace, inputSchema } from '../training/inputs';
import { givenNetworks, networkConfigs, ownNetwork } from '../training/own-networks';
import { checkRanges, type DrawActions, drawerOf, networkActions } from './actions';
import { withLegalHead } from './legal';
import { type DreamerOptions, type ResolvedDreamerOptions, resolveDreamerOptions } from './options';

/** The parts of a Dreamer, in addition to the algorithm's hyperparameters. */
export interface DreamerNetworkOptions {
  /** A preset such as `nano`, `size1m`, or numbers: `{ preset: 'nano', stoch: 16 }`. Default `nano` */
  readonly size?: DreamerSize;
  /**
   * The world model's encoder: `mlp()`, `conv()`, `layersModel()`. It reads fields of shape [H, W, C] by name, images
   * as value / high, and everything else in `vector`: symlogs of numbers, zeros and ones. Default: DreamerV3's
   */
  readonly encoderNetwork?: TorsoBuilder;
  /**
   * The world model's decoder: `mlp()`, `layersModel()`. It reads the model's state in `vector` and predicts the shapes
   * that its builder receives as `outputs`: symlogs of numbers, and logits of codes, planes and value / high of images.
   * Default: DreamerV3's
   */
  readonly decoderNetwork?: TorsoBuilder;
  /** Inputs of the networks in addition to the game's observation. Default: nothing */
  readonly inputs?: Omit<InputOptions, 'extras'>;
  /**
   * How fields of shape [H, W, C] are read: as `planes` of 0 and 1, an `image` whose sides 16 divides, or a `vector` of
   * any numbers. Default: by the `kind` that the game declares, else whole numbers as `planes` and floats as a `vector`
   */
  readonly images?: 'planes' | 'image' | 'vector';
  /**
   * Whether the world model learns which actions are legal, and imagination keeps to them; not for a box, which has no
   * mask. Default: whether the game ever forbids one in some hundred steps of random play. Acting keeps to the legal
   * actions in any case
   */
  readonly masks?: boolean;
  /**
   * How the world model treats the others. `none`: their actions are part of the environment. `moa`: it also takes the
   * co-players' actions as input; a head predicts them from its state, and imagination samples from it. For games of at
   * least two agents, all with the same number of discrete actions. Default `none`
   */
  readonly coPlayers?: 'none' | 'moa';
  /**
   * `auto` takes the fastest executor; `onnx` insists on compiled graphs, `eager` runs operation by operation. Default
   * `auto`
   */
  readonly executor?: ExecutorChoice;
}

/** Everything that's fixed before the first parameter is drawn. */
export interface DreamerSetup {
  readonly game: AnyGame;
  readonly ids: readonly AgentId[];
  /** The actions of these agents. */
  readonly space: ActionSpace;
  readonly draw: DrawActions;
  readonly options: ResolvedDreamerOptions;
  readonly nets: DreamerNets;
  readonly encoder: InputEncoder;
  readonly executor: ExecutorChoice;
  /** Descriptions of networks of one's own, by option. */
  readonly networks: Record<string, SavedState>;
  /** As JSON, for run directories and checkpoints. */
  readonly config: Readonly<Record<string, unknown>>;
}

const networkSchema = z.strictObject({
  encoderNetwork: ownNetwork.optional(),
  decoderNetwork: ownNetwork.optional(),
  inputs: inputSchema.default({}),
  images: z.enum(['planes', 'image', 'vector']).optional(),
  masks: z.boolean().optional(),
  coPlayers: z.enum(['none', 'moa']).default('none'),
  executor: z.enum(['auto', 'onnx', 'wasm', 'eager']).default('auto'),
});

/** Checks options and builds the networks. Nothing here is random, and ours touch no tensor. */
export function dreamerSetup(
  where: string,
  game: AnyGame,
  ids: readonly AgentId[],
  given: DreamerNetworkOptions & DreamerOptions,
): DreamerSetup {
  checkGame(`${where}: option game`, game, 'any', 'play');
  for (const id of ids) checkId(where, game, id);
  const space = commonSpace(`${where}: option ids`, game, ids);
  checkRanges(where, space);
  const { size, inputs: asked, images: kind, masks: forbids, coPlayers: others, executor: choice, ...more } = given;
  const { encoderNetwork, decoderNetwork, ...rest } = more;
  const own = givenNetworks({ encoderNetwork, decoderNetwork });
  const networks = { inputs: asked, images: kind, masks: forbids, coPlayers: others, executor: choice, ...own };
  const options = resolveDreamerOptions(where, rest, size);
  const checked = checkOptions(where, networkSchema, networks);
  const { inputs, images, masks = hasIllegalActions(game, space), coPlayers, executor } = checked;
  if (masks && maskSizeOf(space) === 0) {
    fail(`${where}: option masks`, 'discrete actions to learn masks of', `a box in ${game.name}`, 'Leave it out.');
  }
  checkCoPlayers(where, game, coPlayers);
  checkFields(where, game, inputs as InputOptions);
  const reading = { images: 'raw', flags: 'apart', assumed: true } as const;
  const encoder = inputEncoder(readAs(game, images), inputs as InputOptions, reading);
  const plain = dreamerNets({
    observations: dreamerObservations(encoder.shapes, encoder.kinds),
    actions: networkActions(space),
    unimix: options.unimix,
    actorUnimix: options.actorUnimix,
    coPlayers: coPlayers === 'moa' ? game.agents.length - 1 : 0,
    ...(size !== undefined && { size }),
    ...own,
  });
  const nets = masks ? withLegalHead(plain) : plain;
  const configs = networkConfigs(own);
  const config = {
    ...{ algorithm: 'dreamer', ...options, sizes: nets.sizes, inputs },
    ...(images !== undefined && { images }),
    ...{ masks, coPlayers, ...configs },
  };
  return { game, ids, space, draw: drawerOf(space), options, nets, encoder, executor, networks: configs, config };
}

function checkCoPlayers(where: string, { agents, name, actions }: AnyGame, coPlayers: 'none' | 'moa'): void {
  if (coPlayers === 'none') return;
  const remedy = "Leave coPlayers at 'none'.";
  if (agents.length < 2) {
    fail(where, "a game of at least two agents for coPlayers 'moa'", `${agents.length} in ${name}`, remedy);
  }
  if (typeof actions === 'number') return;
  const expected = "discrete actions, their number the same for every agent, for coPlayers 'moa'";
  fail(where, expected, `${name}, whose are not`, remedy);
}

/** A game's observation, with all fields of shape [H, W, C] declared to be of one kind. */
function readAs(game: AnyGame, kind: 'planes' | 'image' | 'vector' | undefined): SeenGame {
  if (kind === undefined) return game;
  const fields = Object.entries(game.observation).map(([name, { classes: _, high, ...field }]) => {
    if (field.shape.length !== 3) return [name, game.observation[name]];
    return [name, { ...field, kind, ...(kind === 'image' && high !== undefined && { high }) }];
  });
  const { name, agents, actions } = game;
  return { name, agents, actions, observation: Object.fromEntries(fields) };
}

/** Steps of random play in which a forbidden action is looked for. */
const PROBED_STEPS = 64;

/** Whether an agent with these actions, while it played on, was ever forbidden one in random play. */
function hasIllegalActions(game: AnyGame, space: ActionSpace): boolean {
  const { spaces, width, maskSize, dtype } = actionLayout(game);
  const count = maskSizeOf(space);
  if (count === 0) return false;
  const generator = createGenerator(0);
  const env = vectorEnv(game, { envs: 4, seed: 0 });
  const actions = allocate(dtype, 4 * spaces.length * width) as ActionArray;
  try {
    for (let step = 0; step < PROBED_STEPS; step++) {
      for (let row = 0; row < 4 * spaces.length; row++) {
        const own = spaces[row % spaces.length];
        const mask = env.masks.subarray(row * maskSize, row * maskSize + count);
        if (env.active[row] === 1 && isSameSpace(own, space) && mask.includes(0)) return true;
        drawAction(own, env.masks, row * maskSize, generator, actions, row * width);
      }
      env.step(actions);
    }
    return false;
  } finally {
    env.close?.();
  }
}
