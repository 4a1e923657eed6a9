import type { HistoryBufferOptions, HistoryStore } from '@coplay/buffers';
import { type AgentId, checkGame, checkOptions, fail, type Game, show } from '@coplay/core';
import type { InputOptions } from '@coplay/models';
import type { OmgNetOptions, SubgoalSelector } from '@coplay/models/omg';
import type { ExecutorChoice } from '@coplay/tensor';
import { z } from 'zod';
import { checkStore } from '../training/check-calls';
import { ownNetwork } from '../training/own-networks';

/** Options of {@link createOmg}; the networks' options are the models' `OmgNetOptions`. */
export interface OmgOptions extends Omit<OmgNetOptions, 'inputs' | 'kinds' | 'actions' | 'flags'> {
  /** The game. */
  readonly game: Game;
  /** The observer: who infers the others' subgoals. */
  readonly id: AgentId;
  /**
   * `other`: the networks read the co-player's observation, computed from the observer's; for games with `grid`. `own`:
   * they read the observer's own view, and which co-player is meant. Default: `other` where the game allows it
   */
  readonly view?: 'other' | 'own';
  /**
   * Inputs in addition to the view's observation: masks, the previous actions of all agents. Default: the mask where
   * the view is `other`, since legal actions depend on the thing on the agent's cell, which a latent of positions alone
   * doesn't show
   */
  readonly inputs?: Omit<InputOptions, 'extras' | 'agentId'>;
  /** Adds which co-player is meant, by its seat from the observer's on. Default: with the view `own` */
  readonly coPlayerId?: boolean;
  /** How a step's subgoal is chosen among the states that were visited next. Default `optimistic` */
  readonly selector?: SubgoalSelector;
  /** H, how many states ahead it may lie, at least 1. Default 10 */
  readonly horizon?: number;
  /** Whose values the selector goes by. Default `observer` */
  readonly valuesOf?: 'observer' | 'coPlayer';
  /** Step size of Adam for both networks. Default 1e-3 */
  readonly learningRate?: number;
  /** Bound of the norm of the gradients; false for none. Default 1 */
  readonly clipNorm?: number | false;
  /**
   * Updates in which the state VAE is trained; then it's frozen, and the inference is trained. 0 for a VAE that
   * `pretrain` trains. Default 20
   */
  readonly vaeUpdates?: number;
  /** Gradient steps of the VAE in such an update, at least 1. Default 64 */
  readonly vaeSteps?: number;
  /** States in a minibatch of the VAE, at least 1. Default 256 */
  readonly vaeBatchSize?: number;
  /** Gradient steps of the inference in every update after those, at least 1. Default 8 */
  readonly inferenceSteps?: number;
  /** Sequences in a minibatch of the inference, at least 1. Default 16 */
  readonly batchSize?: number;
  /**
   * Steps of a sequence; short histories share one, longer ones are cut and go on from an empty memory. Default: the
   * game's `maxSteps`, at most 64
   */
  readonly sequenceLength?: number;
  /** Steps of co-players that the buffer holds at most. Default 20,000 */
  readonly capacity?: number;
  /** Updates after which the buffer is emptied; false for never. Default false */
  readonly clearEvery?: HistoryBufferOptions['clearEvery'];
  /**
   * A store of histories that other models of the same observer read too (`createHistoryStore` of `@coplay/buffers`).
   * Then experience and values are pushed to the store, once; `capacity` and `clearEvery` are this learner's own.
   * Default: memory of its own
   */
  readonly store?: HistoryStore | undefined;
  /**
   * `auto` takes the fastest executor; `onnx` insists on compiled graphs, `eager` runs operation by operation. Default
   * `auto`
   */
  readonly executor?: ExecutorChoice;
}

const positive = z.int().min(1);

/** The schema of {@link OmgOptions}, without `game` and `id`. */
export const omgSchema = z.strictObject({
  goalDim: z.int().min(2).max(64).default(16),
  hidden: z.array(positive).default([128, 128]),
  stateUnits: positive.default(32),
  historyUnits: positive.default(96),
  encoderNetwork: ownNetwork.optional(),
  decoderNetwork: ownNetwork.optional(),
  inferenceNetwork: ownNetwork.optional(),
  loss: z.enum(['reconstruction', 'action']).default('reconstruction'),
  occupiedWeight: z.number().min(1).default(5),
  reduction: z.enum(['sum', 'mean']).default('sum'),
  klWeight: z.number().min(0).default(1),
  view: z.enum(['other', 'own']).optional(),
  inputs: z
    .strictObject({
      fields: z.array(z.string()).optional(),
      previousActions: z.boolean().optional(),
      mask: z.boolean().optional(),
    })
    .optional(),
  coPlayerId: z.boolean().optional(),
  selector: z.enum(['optimistic', 'conservative', 'fixed', 'random']).default('optimistic'),
  horizon: positive.default(10),
  valuesOf: z.enum(['observer', 'coPlayer']).default('observer'),
  learningRate: z.number().positive().default(1e-3),
  clipNorm: z.union([z.number().positive(), z.literal(false)]).default(1),
  vaeUpdates: z.int().min(0).default(20),
  vaeSteps: positive.default(64),
  vaeBatchSize: positive.default(256),
  inferenceSteps: positive.default(8),
  batchSize: positive.default(16),
  sequenceLength: positive.optional(),
  capacity: positive.default(20_000),
  clearEvery: z.union([positive, z.literal(false)]).default(false),
  store: z.custom<HistoryStore>().optional(),
  executor: z.enum(['auto', 'onnx', 'wasm', 'eager']).default('auto'),
});

/** {@link OmgOptions} with the defaults filled in, without game and id. */
export type OmgSettings = Omit<z.infer<typeof omgSchema>, 'view' | 'inputs' | 'coPlayerId' | 'sequenceLength'> & {
  readonly inputs: InputOptions;
  readonly view: 'other' | 'own';
  readonly coPlayerId: boolean;
  readonly sequenceLength: number;
};

/** Checks the options and fills in the defaults, some of which follow from the game. */
export function omgSettings(where: string, options: OmgOptions): OmgSettings {
  const { game, id, ...rest } = options;
  checkGame(`${where}: option game`, game);
  if (!game.agents.includes(id)) {
    fail(where, `an id of ${game.name}: ${game.agents.join(', ')}`, show(id), 'Take it from game.agents.');
  }
  const checked = checkOptions(where, omgSchema, rest, ['game', 'id']);
  const view = checked.view ?? (game.grid ? 'other' : 'own');
  if (view === 'other' && !game.grid) {
    const remedy = 'Leave it out, or give the game grid parts ("Optional parts" in docs/writing-an-environment.md).';
    fail(`${where}: option view`, "'own' for a game without grid parts", show(view), remedy);
  }
  const inputs = (checked.inputs ?? { mask: view === 'other' }) as InputOptions;
  checkFields(where, game, inputs.fields);
  const { store } = checked;
  if (store) checkStore(where, store, game, id);
  if (view === 'own' && inputs.mask) {
    const remedy = 'Leave it out: what another may do is known where the game has grid parts.';
    fail(`${where}: inputs.mask`, "false for the view 'own'", 'true', remedy);
  }
  return {
    ...checked,
    view,
    inputs,
    coPlayerId: checked.coPlayerId ?? view === 'own',
    sequenceLength: checked.sequenceLength ?? Math.min(game.maxSteps, 64),
  };
}

function checkFields(where: string, game: Game, fields: readonly string[] | undefined): void {
  const known = Object.keys(game.observation);
  const unknown = fields?.find((field) => !known.includes(field));
  if (unknown === undefined && fields?.length !== 0) return;
  const expected = `some fields of ${game.name}: ${known.join(', ')}`;
  fail(`${where}: inputs.fields`, expected, show(unknown ?? fields), 'Name fields of the observation.');
}
