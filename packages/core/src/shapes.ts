import { z } from 'zod';
import { checkArgument } from './checks';
import { fail, show } from './errors';

interface Shaped {
  readonly shape: readonly number[];
}

const shapedSchema = z.record(z.string(), z.custom<Shaped>(isShaped, 'an array or tensor with a shape'));

function isShaped(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<Shaped>).shape);
}

/**
 * Checks that arrays or tensors have the shape a function expects. A letter is a dimension that must agree
 * wherever it occurs; a number must match exactly: `checkShapes('gae', { rewards, values }, 'E T A')`.
 *
 * @param where    the function that checks, for the message
 * @param arrays   the arguments by name
 * @param pattern  dimensions separated by spaces: letters or numbers; '' is a scalar
 * @returns the size of each letter
 */
export function checkShapes(where: string, arrays: Record<string, Shaped>, pattern: string): Record<string, number> {
  checkArgument(where, 'arrays', shapedSchema, arrays);
  if (typeof pattern !== 'string') fail('checkShapes: pattern', 'a text', show(pattern), "Give one such as 'E T A'.");
  const dimensions = pattern.split(' ').filter((part) => part !== '');
  const sizes: Record<string, number> = {};
  for (const [name, { shape }] of Object.entries(arrays)) {
    const agrees =
      shape.length === dimensions.length &&
      dimensions.every((dimension, i) => {
        if (/^\d+$/.test(dimension)) return Number(dimension) === shape[i];
        sizes[dimension] ??= shape[i];
        return sizes[dimension] === shape[i];
      });
    if (!agrees) {
      const known = dimensions.map((d) => (sizes[d] === undefined ? d : `${d}=${sizes[d]}`)).join(', ');
      fail(where, `${name} of shape [${known}]`, `[${shape.join(', ')}]`, `Reshape ${name} before the call.`);
    }
  }
  return sizes;
}
