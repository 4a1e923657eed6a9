import { fail, type NamedArrays } from '@coplay/core';
import { checkArgument, checkRecord, checkText } from '@coplay/core/checks';
import { checkTensor, type TensorRecord, type tf } from '@coplay/tensor';
import { z } from 'zod';

const records = z.record(z.string(), z.looseObject({}));

/**
 * A parameter by its name, refused where it is missing, is no tensor or has another shape: a bias of another size would
 * be repeated without a word.
 *
 * @param shape of the parameter; -1 for any size
 */
export function paramOf<T extends tf.Tensor>(
  where: string,
  params: TensorRecord,
  name: string,
  shape: readonly number[],
): T {
  const param = (params as TensorRecord | undefined | null)?.[name];
  checkTensor(where, `params['${name}']`, param);
  const given = (param as tf.Tensor).shape;
  if (given.length !== shape.length || shape.some((size, i) => size !== -1 && size !== given[i])) {
    const expected = shape.map((size) => (size === -1 ? 'any' : size)).join(', ');
    fail(`${where}: params['${name}']`, `the shape [${expected}]`, `[${given.join(', ')}]`, 'Give its own parameters.');
  }
  return param as T;
}

/** Refuses parameters that aren't a record; {@link paramOf} refuses a record that lacks a parameter. */
export function checkParams(where: string, params: TensorRecord): void {
  checkRecord(where, 'params', params);
}

/** The same arrays under longer names: `kernel` becomes `actor/kernel`. */
export function prefixed(prefix: string, arrays: NamedArrays): NamedArrays {
  checkText('prefixed', 'prefix', prefix);
  checkArgument('prefixed', 'arrays', records, arrays);
  return Object.fromEntries(Object.entries(arrays).map(([name, array]) => [`${prefix}/${name}`, array]));
}

/** The parameters below a prefix, under their short names: `actor/kernel` becomes `kernel`. */
export function within(prefix: string, params: TensorRecord): TensorRecord {
  checkText('within', 'prefix', prefix);
  checkParams('within', params);
  const inside: TensorRecord = {};
  for (const name in params) {
    if (name.startsWith(`${prefix}/`)) inside[name.slice(prefix.length + 1)] = params[name];
  }
  return inside;
}
