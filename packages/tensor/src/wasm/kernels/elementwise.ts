import { elements, type Node, uniformValue, type Value } from '../../graph';
import type { Code, Local } from '../assembler';
import { cutsOf, keepsOrder, mergedCuts } from '../fuse';
import type { Lowering } from '../lowering';
import type { Step } from '../steps';
import { broadcast, countOf, type Dim, joined, refined, type View } from '../views';
import { walk, wordOf } from './copies';
import { elementwiseCode } from './elementwise-ops';

/** Up to as many vectors of a row are computed one after another, without a loop. */
const UNROLLED = 4;

/** Where a node of a loop finds an operand. */
type Operand =
  | { readonly from: 'node'; readonly index: number }
  | { readonly from: 'memory'; readonly index: number }
  | { readonly from: 'number'; readonly number: number; readonly isFloat: boolean }
  | undefined;

/** Nodes over the same numbers as one loop, in which all that they hand to each other stays in registers. */
export function fusedStep(nodes: readonly Node[], results: readonly Value[], lowering: Lowering): Step {
  const size = elements(nodes[0].outputs[0]);
  const places = new Map(nodes.map(({ outputs }, index) => [outputs[0], index]));
  const read: View[] = [];
  const operands = nodes.map(({ inputs, outputs: [output] }) =>
    inputs.map((input): Operand => {
      if (!input) return undefined;
      const index = places.get(beforeReshapes(input, lowering, places));
      if (index !== undefined && elements(input) === size) return { from: 'node', index };
      const number = uniformValue(input);
      if (number !== undefined) {
        const bits = input.dtype === 'bool' ? -number : number;
        return { from: 'number', number: bits, isFloat: input.dtype === 'float32' };
      }
      const view = { ...broadcast(lowering.view(input), output.shape) };
      const known = read.findIndex((one) => isSame(one, view));
      return { from: 'memory', index: known >= 0 ? known : read.push(view) - 1 };
    }),
  );
  const { lists, sources } = commonAxes(read, nodes[0].outputs[0], lowering);
  const written = results.map((value) => lowering.room(value));
  const stored = results.map((value) => places.get(value)!);
  const axes = lists.at(-1)!;
  const words = nodes.map(({ op, attributes, inputs: [x], outputs: [y] }, i) =>
    [op, JSON.stringify(attributes), x?.dtype, y.dtype, JSON.stringify(operands[i], spelled)].join(' '),
  );
  return {
    key: `loop ${lists.map(wordOf).join('; ')} | ${words.join('; ')} | ${stored}`,
    isInPlace: axes.length <= 1,
    reads: sources,
    writes: written,
    emit: (code, pointers) => new LoopCode(code, nodes, operands, stored, lists, axes, pointers).emit(),
  };
}

/** JSON without losing numbers that aren't finite, or -0. */
function spelled(_: string, x: unknown): unknown {
  return typeof x === 'number' && !(Number.isFinite(x) && !Object.is(x, -0)) ? String(Object.is(x, -0) ? '-0' : x) : x;
}

function beforeReshapes(value: Value, lowering: Lowering, places: ReadonlyMap<Value, number>): Value {
  if (places.has(value)) return value;
  const maker = lowering.maker(value);
  return maker && keepsOrder(maker) ? beforeReshapes(maker.inputs[0]!, lowering, places) : value;
}

function isSame(a: View, b: View): boolean {
  return a.buffer === b.buffer && a.offset === b.offset && wordOf(a.dims) === wordOf(b.dims);
}

/**
 * The axes of a loop over all operands: strides by operand, and those of the result behind them. An operand whose axes
 * don't fit, or whose neighbours lie apart, is copied.
 */
function commonAxes(
  read: readonly View[],
  output: Value,
  lowering: Lowering,
): { readonly lists: readonly (readonly Dim[])[]; readonly sources: readonly View[] } {
  const total = countOf(whole(output));
  let cuts: readonly number[] = [];
  const sources = read.map((view) => {
    const simple = joined([view.dims])[0];
    const inner = simple.at(-1)?.stride ?? 0;
    const merged = mergedCuts(cuts, cutsOf(simple.map(({ size }) => size)));
    if (inner > 1 || inner < 0 || !merged) {
      const copy = lowering.pack(view, { shape: view.dims.map(({ size }) => size), dtype: view.buffer.dtype });
      return copy;
    }
    cuts = merged;
    return view;
  });
  const all = [...sources.map(({ dims }) => joined([dims])[0]), [{ size: total, stride: 1 }]];
  return { lists: joined(all.map((dims) => refined(dims, cuts)!)), sources };
}

function whole({ shape }: Value): Dim[] {
  return shape.map((size) => ({ size, stride: 1 }));
}

/** The code of one fused loop. */
class LoopCode {
  /** Operands that don't change in the inner loop. */
  private readonly kept = new Map<number, Local>();
  private readonly numbers = new Map<string, Local>();

  constructor(
    private readonly code: Code,
    private readonly nodes: readonly Node[],
    private readonly operands: readonly (readonly Operand[])[],
    private readonly stored: readonly number[],
    private readonly lists: readonly (readonly Dim[])[],
    private readonly axes: readonly Dim[],
    private readonly pointers: readonly Local[],
  ) {}

  emit(): void {
    const { code, lists, axes, pointers, stored } = this;
    const reads = lists.length - 1;
    this.loadNumbers();
    for (let i = 0; i < reads; i++) if (lists[i].every(({ stride }) => stride === 0)) this.keep(i);
    const results = stored.map(() => lists[reads]);
    walk(code, [...lists.slice(0, reads), ...results], pointers, Math.max(0, axes.length - 1), () => {
      for (let i = 0; i < reads; i++) {
        if (!this.kept.has(i) && this.isConstantInside(i)) this.keep(i);
      }
      this.row(axes.at(-1)?.size ?? 1);
      // In the next row they're others.
      for (const i of [...this.kept.keys()]) if (lists[i].some(({ stride }) => stride !== 0)) this.kept.delete(i);
    });
  }

  private isConstantInside(i: number): boolean {
    return (this.lists[i].at(-1)?.stride ?? 0) === 0;
  }

  private keep(i: number): void {
    this.code.get(this.pointers[i]);
    this.code.memory('v128.load32_splat');
    this.kept.set(i, this.code.keep('v128'));
  }

  private loadNumbers(): void {
    const { code } = this;
    for (const operand of this.operands.flat()) {
      if (operand?.from !== 'number' || this.numbers.has(wordFor(operand))) continue;
      if (operand.isFloat) code.splat(operand.number);
      else code.splatInt(operand.number);
      this.numbers.set(wordFor(operand), code.keep('v128'));
    }
  }

  /** Vectors reach over the end of a row: the next row, or the room behind the buffer, is written later. */
  private row(size: number): void {
    const vectors = Math.ceil(size / 4);
    if (vectors <= UNROLLED) for (let i = 0; i < vectors; i++) this.code.scope(() => this.vector(16 * i));
    else this.code.repeat(16 * vectors, 16, (i) => this.vector(0, i));
  }

  private vector(offset: number, index?: Local): void {
    const { code, pointers, stored } = this;
    const reads = this.lists.length - 1;
    const address = (pointer: Local): void => {
      code.get(pointer);
      if (!index) return;
      code.get(index);
      code.op('i32.add');
    };
    const loaded = Array.from({ length: reads }, (_, i) => {
      const kept = this.kept.get(i);
      if (kept) return kept;
      address(pointers[i]);
      code.memory('v128.load', offset);
      return code.keep('v128');
    });
    const made: Local[] = [];
    this.nodes.forEach((node, n) => {
      const locals = this.operands[n].map((operand) => {
        if (!operand) return undefined;
        if (operand.from === 'number') return this.numbers.get(wordFor(operand))!;
        return operand.from === 'node' ? made[operand.index] : loaded[operand.index];
      });
      elementwiseCode(node)!(code, locals, node);
      made.push(code.keep('v128'));
    });
    stored.forEach((n, i) => {
      address(pointers[reads + i]);
      code.get(made[n]);
      code.memory('v128.store', offset);
    });
  }
}

function wordFor({ number, isFloat }: { readonly number: number; readonly isFloat: boolean }): string {
  return `${isFloat} ${Object.is(number, -0) ? '-0' : number}`;
}
