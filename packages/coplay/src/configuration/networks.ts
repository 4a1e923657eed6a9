import { checkOptions } from '@coplay/core';
import { type ConvTorsoOptions, conv, type MlpOptions, mlp } from '@coplay/models';
import { z } from 'zod';

/** A network by the name of the function that makes it, with that function's options. */
export type NetworkConfiguration =
  | ({ readonly kind: 'mlp' } & MlpOptions)
  | ({ readonly kind: 'conv' } & ConvTorsoOptions);

const schema = z.looseObject({ kind: z.enum(['mlp', 'conv']) });

/** Options with networks in the place of their descriptions, wherever one is called `network` or `criticNetwork`. */
export function withNetworks(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(options).map(([name, value]) => {
    if (!isPlainRecord(value)) return [name, value];
    return [name, name === 'network' || name === 'criticNetwork' ? networkOf(name, value) : withNetworks(value)];
  });
  return Object.fromEntries(entries);
}

function networkOf(name: string, description: object) {
  const { kind, ...options } = checkOptions(name, schema, description);
  return kind === 'mlp' ? mlp(options) : conv(options);
}

/** Whether it's a record as JSON has them, and nothing that code made: a game, an array of numbers. */
export function isPlainRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
