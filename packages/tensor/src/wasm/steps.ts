import type { Value } from '../graph';
import type { Code, Local } from './assembler';
import type { Buffer, View } from './views';

/** Some work on numbers in memory. */
export interface Step {
  /** Steps with equal keys have the same code. */
  readonly key: string;
  /** Whether each number that is read in order is read before the number in its place is written. */
  readonly isInPlace?: boolean;
  readonly reads: readonly View[];
  readonly writes: readonly View[];
  /**
   * Appends the code of a function.
   *
   * @param pointers the addresses of the first numbers of `reads`, then of `writes`
   */
  emit(code: Code, pointers: readonly Local[]): void;
}

/** Steps that are repeated. */
export interface Loop {
  readonly times: number;
  /** Views that keep their numbers from turn to turn, though the steps write them. */
  readonly kept: readonly View[];
  /** Buffers that lie where others do. */
  readonly shared: ReadonlyMap<Buffer, Buffer>;
  readonly steps: readonly Instruction[];
}

/** A step; where a number is added to addresses in each turn of the loop around it, `strides` says how many bytes. */
export interface Placed {
  readonly step: Step;
  /** Bytes from turn to turn, for each view that moves. */
  readonly strides?: ReadonlyMap<View, number>;
}

export type Instruction = Placed | Loop;

/** A graph as steps over buffers. */
export interface Lowered {
  readonly instructions: readonly Instruction[];
  readonly inputs: readonly NamedView[];
  readonly outputs: readonly NamedView[];
}

/** An input or output of a graph. */
export interface NamedView {
  readonly name: string;
  readonly value: Value;
  /** In order, without gaps. */
  readonly view: View;
}

/** Something in a graph that no kernel computes. */
export class Unsupported extends Error {}

/** Steps that move in memory from turn to turn of a loop. */
export interface Turns {
  /**
   * Copies numbers.
   *
   * @param fromStride bytes that the source moves in each turn
   */
  copy(from: View, to: View, fromStride: number, toStride: number): void;
  /** Lets a result lie where the value is that it replaces, if nothing needs that any longer. Says whether it does. */
  replace(from: View, by: View): boolean;
}
