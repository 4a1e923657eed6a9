import {
  type AgentId,
  checkGame,
  checkOptions,
  createGenerator,
  fail,
  type Game,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import { type InputEncoder, type InputOptions, inputEncoder, type SeenGame, type TorsoBuilder } from '@coplay/models';
import { type DreamerNets, type DreamerSize, dreamerNets, dreamerObservations } from '@coplay/models/dreamer';
import type { ExecutorChoice } from '@coplay/tensor';
import { z } from 'zod';
import { checkFields, checkId, inputSchema } from '../training/inputs';
import { givenNetworks, networkConfigs, ownNetwork } from '../training/own-networks';
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
   * Whether the world model learns which actions are legal, and imagination keeps to them. Default: whether the game
   * ever forbids one in some hundred steps of random play. Acting keeps to the legal actions in any case
   */
  readonly masks?: boolean;
  /**
   * How the world model treats the others. `none`: their actions are part of the environment. `moa`: it also takes the
   * co-players' actions as input; a head predicts them from its state, and imagination samples from it. For games of at
   * least two agents. Default `none`
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
  readonly game: Game;
  readonly ids: readonly AgentId[];
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
  game: Game,
  ids: readonly AgentId[],
  given: DreamerNetworkOptions & DreamerOptions,
): DreamerSetup {
  checkGame(`${where}: option game`, game, 'discrete', 'play');
  for (const id of ids) checkId(where, game, id);
  const { size, inputs: asked, images: kind, masks: forbids, coPlayers: others, executor: choice, ...more } = given;
  const { encoderNetwork, decoderNetwork, ...rest } = more;
  const own = givenNetworks({ encoderNetwork, decoderNetwork });
  const networks = { inputs: asked, images: kind, masks: forbids, coPlayers: others, executor: choice, ...own };
  const options = resolveDreamerOptions(where, rest, size);
  const checked = checkOptions(where, networkSchema, networks);
  const { inputs, images, masks = hasIllegalActions(game), coPlayers, executor } = checked;
  checkCoPlayers(where, game, coPlayers);
  checkFields(where, game, inputs as InputOptions);
  const reading = { images: 'raw', flags: 'apart', assumed: true } as const;
  const encoder = inputEncoder(readAs(game, images), inputs as InputOptions, reading);
  const plain = dreamerNets({
    observations: dreamerObservations(encoder.shapes, encoder.kinds),
    actions: { kind: 'discrete', count: game.actions },
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
  return { game, ids, options, nets, encoder, executor, networks: configs, config };
}

function checkCoPlayers(where: string, { agents, name }: Game, coPlayers: 'none' | 'moa'): void {
  if (coPlayers === 'none' || agents.length > 1) return;
  const remedy = "Leave coPlayers at 'none'.";
  fail(where, "a game of at least two agents for coPlayers 'moa'", `${agents.length} in ${name}`, remedy);
}

/** A game's observation, with all fields of shape [H, W, C] declared to be of one kind. */
function readAs(game: Game, kind: 'planes' | 'image' | 'vector' | undefined): SeenGame {
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

/** Whether an agent that plays on was ever forbidden an action in random play. */
function hasIllegalActions(game: Game): boolean {
  const generator = createGenerator(0);
  const env = vectorEnv(game, { envs: 4, seed: 0 });
  const actions = new Int32Array(4 * game.agents.length);
  try {
    for (let step = 0; step < PROBED_STEPS; step++) {
      for (let row = 0; row < actions.length; row++) {
        const mask = env.masks.subarray(row * game.actions, (row + 1) * game.actions);
        if (env.active[row] === 1 && mask.includes(0)) return true;
        const legal = Array.from(mask.keys()).filter((action) => mask[action] === 1);
        actions[row] = legal[generator.integer(legal.length)];
      }
      env.step(actions);
    }
    return false;
  } finally {
    env.close?.();
  }
}
