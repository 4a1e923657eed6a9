import { type ZodType, z } from 'zod';
import { remedyFor } from './check-values';
import { fail } from './fail';
import { parse } from './parse';
import { show } from './show';
import type { DType, NamedArrays, NDArray, TypedArray } from './typed-arrays';
import { DTYPES, TAGS, tagOf } from './typed-arrays';

/**
 * Refuses an argument that doesn't fit a zod schema. Unlike `checkOptions`, it leaves the argument as it is: no
 * defaults, no copies.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkArgument(where: string, name: string, schema: ZodType, value: unknown): void {
  const result = parse(where, schema, value);
  if (result.success) return;
  const { path, expected, got } = result;
  const place = path ? `${name}.${path}` : name;
  fail(`${where}: ${place}`, expected, show(got), remedyFor(place, got));
}

/**
 * A zod schema of typed arrays, for {@link checkArgument}.
 *
 * @param dtypes  the accepted element types; without any, all of them
 */
export function typedArrays<Data extends TypedArray = TypedArray>(...dtypes: readonly DType[]): ZodType<Data> {
  const tags = (dtypes.length === 0 ? DTYPES : dtypes).map((dtype) => TAGS[dtype]);
  const accepts = (value: unknown) => ArrayBuffer.isView(value) && tags.includes(tagOf(value));
  const expected =
    dtypes.length === 0
      ? `a typed array of ${DTYPES.join(', ')}`
      : `${tags[0].startsWith('Int') ? 'an' : 'a'} ${tags.join(' or ')}`;
  return z.custom<Data>(accepts, expected);
}

/** A zod schema of arrays with a shape, each with as many values as its shape has. */
export const ndarrays: ZodType<NDArray> = z
  .looseObject({ data: typedArrays(), shape: z.array(z.int().min(0)) })
  .superRefine(({ data, shape }, context) => {
    const size = shape.reduce((product, dimension) => product * dimension, 1);
    if (size === data.length) return;
    context.addIssue({ code: 'custom', path: ['data'], message: `${size} values for the shape [${shape}]` });
  });

/** A zod schema of records of {@link ndarrays}. */
export const namedArrays: ZodType<NamedArrays> = z.record(z.string(), ndarrays);

/** A zod schema of functions, for {@link checkArgument}. */
export function functions<F extends (...given: never[]) => unknown>(): ZodType<F> {
  return z.custom<F>((value) => typeof value === 'function', 'a function');
}
