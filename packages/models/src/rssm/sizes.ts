import { checkOptions } from '@coplay/core';
import { z } from 'zod';

/** Sizes of the recurrent state-space model. */
export interface RssmSizes {
  /** D, units of the deterministic state h; a multiple of `blocks` */
  readonly deter: number;
  /** Hd, units of the layers inside */
  readonly hidden: number;
  /** S, categoricals of the sample z */
  readonly stoch: number;
  /** C, classes of each */
  readonly classes: number;
  /** g, blocks of the GRU */
  readonly blocks: number;
}

/** All sizes of DreamerV3's networks. */
export interface DreamerSizes extends RssmSizes {
  /** U, units of encoder, decoder and heads */
  readonly units: number;
  /** Layers of encoder, decoder, actor and critic; reward and continue heads have 1 */
  readonly layers: number;
  /** Channels of the image networks are 2, 3, 4 and 4 times this */
  readonly depth: number;
  /** Bins of reward and value distributions */
  readonly bins: number;
}

/** A named size: `nano` and `micro` are ours, `debug` and the others DreamerV3's. */
export type DreamerSizeName = keyof typeof DREAMER_SIZES;

const official = (scale: number): DreamerSizes => ({
  deter: 512 * scale,
  hidden: 64 * scale,
  stoch: 32,
  classes: 4 * scale,
  blocks: 8,
  units: 64 * scale,
  layers: 3,
  depth: 4 * scale,
  bins: 255,
});

/**
 * The presets. Parameters for CartPole (4 numbers seen, 2 actions): nano 99,109; micro 357,573; size1m 637,381;
 * size200m 153,714,181.
 */
export const DREAMER_SIZES = {
  debug: { deter: 8, hidden: 3, stoch: 2, classes: 4, blocks: 4, units: 8, layers: 1, depth: 2, bins: 5 },
  nano: { deter: 128, hidden: 32, stoch: 8, classes: 4, blocks: 4, units: 32, layers: 3, depth: 2, bins: 255 },
  micro: { deter: 256, hidden: 64, stoch: 32, classes: 4, blocks: 8, units: 64, layers: 3, depth: 4, bins: 255 },
  size1m: official(1),
  size12m: official(4),
  size25m: official(6),
  size50m: official(8),
  size100m: official(12),
  size200m: official(16),
  size400m: official(24),
} as const satisfies Record<string, DreamerSizes>;

const whole = () => z.int().min(1);
const names = Object.keys(DREAMER_SIZES) as [DreamerSizeName, ...DreamerSizeName[]];

/** Schema of a size: a preset's name, or sizes that replace some of a preset. */
export const sizeSchema = z.union([
  z.enum(names),
  z.strictObject({
    preset: z.enum(names).default('nano'),
    deter: whole().optional(),
    hidden: whole().optional(),
    stoch: whole().optional(),
    classes: z.int().min(2).optional(),
    blocks: whole().optional(),
    units: whole().optional(),
    layers: whole().optional(),
    depth: whole().optional(),
    bins: z.int().min(2).optional(),
  }),
]);

/** A preset's name, or a preset with some sizes replaced: `{ preset: 'nano', stoch: 16 }`. */
export type DreamerSize = DreamerSizeName | ({ readonly preset?: DreamerSizeName } & Partial<DreamerSizes>);

/**
 * The numbers of a size.
 *
 * @throws CoplayError for an unknown preset or number
 */
export function dreamerSizes(size: DreamerSize = 'nano'): DreamerSizes {
  const checked = checkOptions('dreamerSizes', sizeSchema, size);
  if (typeof checked === 'string') return DREAMER_SIZES[checked];
  const { preset, ...own } = checked;
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return { ...DREAMER_SIZES[preset], ...given };
}
