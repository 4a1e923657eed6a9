import { checkOptions, fail, type Generator, type NamedArrays } from '@coplay/core';
import { functions } from '@coplay/core/checks';
import type { TensorRecord } from '@coplay/tensor';
import { z } from 'zod';
import { countParams, initialise, type ParamSpecs, prefixed, prefixedSpecs, within } from '../layers';
import type { TorsoBuilder } from '../torso';
import { actionSizeOf, type DreamerActions, type DreamerActor, dreamerActor } from './actor';
import { type CoPlayerModel, coPlayerModel } from './co-players';
import { type DreamerDecoder, dreamerDecoder } from './decoder';
import { type DreamerEncoder, dreamerEncoder } from './encoder';
import { type ContinueHead, continueHead, type TwoHotHead, twoHotHead } from './heads';
import type { DreamerObservations } from './observations';
import { type Rssm, rssm } from './rssm';
import { type DreamerSize, type DreamerSizes, dreamerSizes, sizeSchema } from './sizes';

/** Options of {@link dreamerNets}. */
export interface DreamerNetsOptions {
  /** The observations' specifications, by name */
  readonly observations: DreamerObservations;
  /** The action space */
  readonly actions: DreamerActions;
  /** A preset, or numbers. Default `nano` */
  readonly size?: DreamerSize;
  /** Share of the uniform distribution in latents, in [0, 1). Default 0.01 */
  readonly unimix?: number;
  /** The same in a discrete policy. Default 0, as in DreamerV3's code; its paper says 0.01 */
  readonly actorUnimix?: number;
  /**
   * M, the number of co-players whose actions the world model takes as inputs and predicts (`CoPlayerModel` of
   * `@coplay/models/layers`); each has as many actions as the agent. Only with discrete actions. Default 0
   */
  readonly coPlayers?: number;
  /**
   * The encoder: from observations to features. It reads fields of shape [H, W, C] by name, images as value / high,
   * and everything else in `vector`, sorted by name: symlogs of vectors, one-hot codes, zeros and ones. Default:
   * DreamerV3's
   */
  readonly encoderNetwork?: TorsoBuilder;
  /**
   * The decoder: from the state [z, h] in `vector` to an array of each observation's shape, sorted by name, images
   * last. It predicts symlogs of vectors, and logits of codes, planes and value / high of images. Default:
   * DreamerV3's
   */
  readonly decoderNetwork?: TorsoBuilder;
}

/** The modules; parameters are named `enc/...`, `dyn/...`, `dec/...`, `rew/...`, `con/...`, `pol/...`, `val/...`. */
export const DREAMER_MODULES = ['enc', 'dyn', 'dec', 'rew', 'con', 'pol', 'val'] as const;

/** A module's name within parameters' names. */
export type DreamerModule = (typeof DREAMER_MODULES)[number];

/** All networks of DreamerV3. */
export interface DreamerNets {
  readonly observations: DreamerObservations;
  readonly sizes: DreamerSizes;
  readonly encoder: DreamerEncoder;
  readonly rssm: Rssm;
  readonly decoder: DreamerDecoder;
  readonly reward: TwoHotHead;
  readonly continues: ContinueHead;
  readonly actor: DreamerActor;
  readonly critic: TwoHotHead;
  /**
   * Where co-players are modelled; parameters `moa/...`. Codes of actions then have their M K numbers after one's own
   */
  readonly coPlayers?: CoPlayerModel;
  /** Of all modules but networks of your own. */
  readonly specs: ParamSpecs;
  /** Number of parameters; those of the slow critic and of networks of your own are not counted. */
  readonly parameterCount: number;
  /** Fresh parameters of all modules. */
  init(generator: Generator): NamedArrays;
  /** The parameters of each module under their short names. */
  parts(params: TensorRecord): Readonly<Record<DreamerModule | 'moa', TensorRecord>>;
}

const positive = z.int().min(1);
const grid = z.array(positive).length(3);
const share = z.number().min(0).lt(1);
const schema = z.strictObject({
  observations: z.record(
    z.string().min(1),
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('vector'), size: positive }),
      z.strictObject({ kind: z.literal('discrete'), classes: z.int().min(2) }),
      z.strictObject({ kind: z.literal('planes'), shape: z.array(positive).min(1) }),
      z
        .strictObject({ kind: z.literal('codes'), shape: z.array(positive).min(1), classes: z.int().min(2) })
        .refine(
          ({ shape, classes }) => shape[shape.length - 1] % classes === 0,
          'classes that divide the last dimension',
        ),
      z.strictObject({ kind: z.literal('image'), shape: grid, high: z.number().positive().optional() }),
    ]),
  ),
  actions: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('discrete'), count: positive }),
    z.strictObject({ kind: z.literal('multi-discrete'), counts: z.array(positive).min(1) }),
    z.strictObject({ kind: z.literal('continuous'), size: positive }),
  ]),
  size: sizeSchema.default('nano'),
  unimix: share.default(0.01),
  actorUnimix: share.default(0),
  coPlayers: z.int().min(0).default(0),
  encoderNetwork: functions<TorsoBuilder>().optional(),
  decoderNetwork: functions<TorsoBuilder>().optional(),
});

/**
 * Builds DreamerV3's networks (Hafner et al. 2023). Ours allocate nothing before `init`.
 *
 * @throws CoplayError for unknown options, sizes that blocks don't divide, images that can't be halved four times, and
 *         networks of your own that don't fit
 */
export function dreamerNets(options: DreamerNetsOptions): DreamerNets {
  const {
    observations,
    actions,
    unimix,
    actorUnimix,
    size,
    coPlayers: M,
    encoderNetwork,
    decoderNetwork,
  } = checkOptions('dreamerNets', schema, options);
  const sizes = dreamerSizes(size as DreamerSize);
  const { units, layers, bins } = sizes;
  const encoder = dreamerEncoder(observations, sizes, encoderNetwork);
  const actionSize = actionSizeOf(actions);
  checkCoPlayers(M, actions);
  const model = rssm({ ...sizes, tokens: encoder.outputSize, actions: (1 + M) * actionSize, unimix });
  const head = { featureSize: model.featureSize, units };
  const modules = {
    enc: encoder,
    dyn: model,
    dec: dreamerDecoder(observations, sizes, decoderNetwork),
    rew: twoHotHead({ ...head, layers: 1, bins }),
    con: continueHead({ ...head, layers: 1 }),
    pol: dreamerActor({ ...head, layers, actions, unimix: actorUnimix }),
    val: twoHotHead({ ...head, layers, bins }),
  };
  const coPlayers = M > 0 ? coPlayerModel({ ...head, layers, count: M, actions: actionSize }) : undefined;
  const moa = prefixedSpecs('moa', coPlayers?.specs ?? {});
  const specs: ParamSpecs = Object.assign(
    {},
    ...DREAMER_MODULES.map((name) => prefixedSpecs(name, modules[name].specs)),
    moa,
  );
  return {
    observations,
    sizes,
    encoder,
    rssm: model,
    decoder: modules.dec,
    reward: modules.rew,
    continues: modules.con,
    actor: modules.pol,
    critic: modules.val,
    ...(coPlayers && { coPlayers }),
    specs,
    parameterCount: countParams(specs),
    init: (generator) =>
      Object.assign(
        {},
        ...DREAMER_MODULES.map((name) => prefixed(name, freshOf(modules[name], generator.fork()))),
        initialise(moa, generator.fork()),
      ),
    parts: (params) =>
      Object.fromEntries([...DREAMER_MODULES, 'moa'].map((name) => [name, within(name, params)])) as ReturnType<
        DreamerNets['parts']
      >,
  };
}

/** Fresh parameters of a module. */
function freshOf(module: DreamerEncoder | DreamerDecoder | Pick<Rssm, 'specs'>, generator: Generator): NamedArrays {
  return 'init' in module ? module.init(generator) : initialise(module.specs, generator);
}

function checkCoPlayers(count: number, { kind }: DreamerActions): void {
  if (count === 0 || kind === 'discrete') return;
  fail('dreamerNets', 'discrete actions where co-players are modelled', kind, 'Leave coPlayers out.');
}
