import type { NamedArrays } from '@coplay/core';
import type { TensorRecord } from '@coplay/tensor';

/** The same arrays under longer names: `kernel` becomes `actor/kernel`. */
export function prefixed(prefix: string, arrays: NamedArrays): NamedArrays {
  return Object.fromEntries(Object.entries(arrays).map(([name, array]) => [`${prefix}/${name}`, array]));
}

/** The parameters below a prefix, under their short names: `actor/kernel` becomes `kernel`. */
export function within(params: TensorRecord, prefix: string): TensorRecord {
  const inside: TensorRecord = {};
  for (const name in params) {
    if (name.startsWith(`${prefix}/`)) inside[name.slice(prefix.length + 1)] = params[name];
  }
  return inside;
}
