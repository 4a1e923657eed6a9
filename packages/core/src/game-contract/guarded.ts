import { allocate } from '../arrays';
import type { ArrayOf, DType, TypedArray } from '../typed-arrays';

/** The content of the margins, and of unwritten bytes before a call. */
export const MARK = 85;

/** An array in which a game may write `size` values from `offset` on; margins on both sides show whether it strayed. */
export class Guarded<A extends TypedArray = TypedArray> {
  readonly offset: number;

  /**
   * @param array  its values from `size` on are the game's part
   */
  constructor(
    readonly array: A,
    readonly size: number,
  ) {
    this.offset = size;
    this.fill(MARK);
  }

  /** Fills the game's part; the margins get their mark. */
  fill(value: number): void {
    this.array.fill(MARK);
    this.array.fill(value, this.offset, this.offset + this.size);
  }

  /** A copy of the game's part. */
  read(): number[] {
    return Array.from(this.array.subarray(this.offset, this.offset + this.size));
  }

  write(values: readonly number[]): void {
    this.array.set(values, this.offset);
  }

  /** How far outside its part the game wrote, counted from the part's start; undefined where it didn't. */
  strayed(): number | undefined {
    const { array, offset, size } = this;
    for (let i = 0; i < array.length; i++) {
      const isMargin = i < offset || i >= offset + size;
      if (isMargin && array[i] !== MARK) return i - offset;
    }
    return undefined;
  }
}

/** A guarded array of a dtype: row 1 of a batch, with row 0 and at least 16 values behind it as margins. */
export function guarded<D extends DType>(dtype: D, size: number): Guarded<ArrayOf<D>> {
  return new Guarded(allocate(dtype, 2 * size + Math.max(16, size)), size);
}

/** The first index where two lists differ (NaN equals NaN), or -1. */
export function firstDifference(a: readonly number[], b: readonly number[]): number {
  const length = Math.max(a.length, b.length);
  for (let i = 0; i < length; i++) if (!Object.is(a[i], b[i])) return i;
  return -1;
}
