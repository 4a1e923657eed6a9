import { fail, type Generator, type NamedArrays, ndarray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkCount, checkGenerator, checkNumber, checkText } from '@coplay/core/checks';
import { truncatedNormal, zeros } from '@coplay/tensor';
import { z } from 'zod';

/** A parameter before it exists: its shape, and how it begins. */
export interface ParamSpec {
  readonly shape: readonly number[];
  /**
   * 0 (biases), 1 (scales of norms), or the fan-in of a kernel: normal with standard deviation 1.1368 scale /
   * sqrt(fanIn), cut at two of these, as DreamerV3 does (1.1368 makes up for the cut: the variance is then scale^2 /
   * fanIn).
   */
  readonly start: 0 | 1 | { readonly fanIn: number; readonly scale: number };
}

/** Parameters by name. */
export type ParamSpecs = Readonly<Record<string, ParamSpec>>;

const specsSchema = z.record(
  z.string(),
  z.looseObject({
    shape: z.array(z.int().min(0)),
    start: z.union([z.literal(0), z.literal(1), z.looseObject({ fanIn: z.unknown(), scale: z.number() })]),
  }),
);

const CUT_CORRECTION = 1.1368;

/**
 * Fresh parameters. Each one draws from a child generator of its own, so that one network's sizes don't change
 * another's start.
 *
 * @throws CoplayError for a fan-in below 1
 */
export function initialise(specs: ParamSpecs, generator: Generator): NamedArrays {
  checkArgument('initialise', 'specs', specsSchema, specs);
  checkGenerator('initialise', generator);
  const names = Object.keys(specs);
  return Object.fromEntries(names.map((name) => [name, fresh(name, specs[name], generator.fork())]));
}

function fresh(name: string, { shape, start }: ParamSpec, generator: Generator): NamedArrays[string] {
  if (start === 0) return zeros(shape);
  if (start === 1) return ndarray(new Float32Array(sizeOf(shape)).fill(1), shape);
  if (!(start.fanIn >= 1))
    fail('initialise', `a fan-in of 1 or more for ${name}`, String(start.fanIn), 'Mend its size.');
  if (start.scale === 0) return zeros(shape);
  return truncatedNormal(generator, shape, (CUT_CORRECTION * start.scale) / Math.sqrt(start.fanIn));
}

/** Number of parameters; nothing is allocated for it. */
export function countParams(specs: ParamSpecs): number {
  checkArgument('countParams', 'specs', specsSchema, specs);
  return Object.values(specs).reduce((sum, { shape }) => sum + sizeOf(shape), 0);
}

/** The same parameters under longer names, as `prefixed` does with arrays. */
export function prefixedSpecs(prefix: string, specs: ParamSpecs): ParamSpecs {
  checkText('prefixedSpecs', 'prefix', prefix);
  checkArgument('prefixedSpecs', 'specs', specsSchema, specs);
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [`${prefix}/${name}`, spec]));
}

/** Kernel [in, out] and bias [out] of a linear layer. */
export function linearSpecs(inputSize: number, outputSize: number, scale = 1): Record<'kernel' | 'bias', ParamSpec> {
  checkCount('linearSpecs', 'inputSize', inputSize, 1);
  checkCount('linearSpecs', 'outputSize', outputSize, 1);
  checkNumber('linearSpecs', 'scale', scale);
  return {
    kernel: { shape: [inputSize, outputSize], start: { fanIn: inputSize, scale } },
    bias: { shape: [outputSize], start: 0 },
  };
}
