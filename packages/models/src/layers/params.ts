import { checkArgument, checkRecord, checkText, type NamedArrays } from '@coplay/core';
import { checkTensor, type TensorRecord, type tf } from '@coplay/tensor';
import { z } from 'zod';

const records = z.record(z.string(), z.looseObject({}));

/** A parameter by its name, refused where it is missing or is no tensor. */
export function paramOf(where: string, params: TensorRecord, name: string): tf.Tensor {
  const param = (params as TensorRecord | undefined | null)?.[name];
  checkTensor(where, `params['${name}']`, param);
  return param as tf.Tensor;
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
export function within(params: TensorRecord, prefix: string): TensorRecord {
  checkText('within', 'prefix', prefix);
  checkParams('within', params);
  const inside: TensorRecord = {};
  for (const name in params) {
    if (name.startsWith(`${prefix}/`)) inside[name.slice(prefix.length + 1)] = params[name];
  }
  return inside;
}
