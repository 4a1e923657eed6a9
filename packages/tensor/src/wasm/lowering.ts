import type { Graph, Node, Value } from '../graph';
import { elements } from '../graph';
import { axisOf, permOf } from '../passes/patterns';
import { keepsOrder } from './fuse';
import { copyStep } from './kernels/copies';
import { type Instruction, type Step, type Turns, Unsupported } from './steps';
import { type Buffer, broadcast, countOf, type Dim, isInOrder, reshaped, type View, whole } from './views';

/** Steps so far, and where values are. */
export class Lowering {
  instructions: Instruction[] = [];
  private readonly views = new Map<Value, View>();
  private readonly makers = new Map<Value, Node>();

  /**
   * @param isFused whether products may use the relaxed multiply-add
   * @param append  appends the steps of a graph's nodes
   */
  constructor(
    readonly isFused: boolean,
    private readonly append: (graph: Graph, lowering: Lowering) => void,
  ) {}

  /** Appends the steps of a graph whose inputs are defined. */
  run(graph: Graph): void {
    for (const node of graph.nodes) for (const output of node.outputs) this.makers.set(output, node);
    this.append(graph, this);
  }

  add(step: Step): void {
    this.instructions.push({ step });
  }

  /**
   * Repeats the steps that `body` appends.
   *
   * @param kept views that keep their numbers from turn to turn, though only the loop writes them
   */
  loop(times: number, kept: readonly View[], body: (turns: Turns) => void): void {
    const around = this.instructions;
    const steps: Instruction[] = [];
    const shared = new Map<Buffer, Buffer>();
    this.instructions = steps;
    body({
      replace: (from, by) => {
        if (shared.has(by.buffer) || !canReplace(steps, from, by)) return false;
        shared.set(by.buffer, from.buffer);
        return true;
      },
      copy: (from, to, fromStride, toStride) => {
        const step = copyStep(from, to);
        this.instructions.push({
          step,
          strides: new Map([
            [step.reads[0], fromStride],
            [step.writes[0], toStride],
          ]),
        });
      },
    });
    this.instructions = around;
    this.instructions.push({ times, kept, shared, steps });
  }

  define(value: Value, view: View): void {
    this.views.set(value, view);
  }

  /** The node that makes a value; undefined for inputs and constants. */
  maker(value: Value): Node | undefined {
    return this.makers.get(value);
  }

  /** New memory for a value. */
  room(value: Value): View {
    const view = this.scratch(value.shape, value.dtype);
    this.define(value, view);
    return view;
  }

  /** New memory. */
  scratch(shape: readonly number[], dtype: Value['dtype'] = 'float32'): View {
    return whole({ place: 'scratch', size: shape.reduce((product, size) => product * size, 1), dtype }, shape);
  }

  /** Where a value is. */
  view(value: Value): View {
    const known = this.views.get(value);
    if (known) return known;
    const view = value.constant ? constantView(value) : this.viewOf(this.makers.get(value), value);
    this.define(value, view);
    return view;
  }

  /** A value as numbers in order, copied if need be. */
  packed(value: Value): View {
    const view = this.view(value);
    if (isInOrder(view)) return view;
    const copy = this.pack(view, value);
    this.define(value, copy);
    return copy;
  }

  /** A copy with the numbers in order. */
  pack(view: View, { shape, dtype }: Value): View {
    const copy = this.scratch(shape, dtype);
    this.add(copyStep(view, copy));
    return copy;
  }

  /** Bytes as int32. */
  widened(bytes: View, { shape }: Value): View {
    const wide = this.scratch(shape, 'int32');
    this.add(widenStep(bytes, wide));
    return wide;
  }

  private viewOf(node: Node | undefined, value: Value): View {
    if (!node) throw new Error('a value that nothing makes');
    const x = this.view(node.inputs[0]!);
    if (keepsOrder(node)) {
      return reshaped(x, value.shape) ?? reshaped(this.packed(node.inputs[0]!), value.shape)!;
    }
    switch (node.op) {
      case 'Expand':
        return broadcast(x, value.shape);
      case 'Transpose':
        return { ...x, dims: permOf(node).map((axis) => x.dims[axis]) };
      case 'Slice':
        return sliced(x, node);
      default:
        return part(x, node, value);
    }
  }
}

/** Whether the step that makes a value may overwrite another one. */
function canReplace(steps: readonly Instruction[], from: View, by: View): boolean {
  if (by.buffer.place !== 'scratch' || by.buffer.size !== from.buffer.size || !isInOrder(by) || by.offset !== 0)
    return false;
  const has = (views: readonly View[], { buffer }: View) => views.some((view) => view.buffer === buffer);
  const maker = steps.findIndex((one) => 'step' in one && has(one.step.writes, by));
  const made = steps[maker];
  if (!made || !('step' in made) || !made.step.isInPlace) return false;
  const isAligned = made.step.reads.every(
    (view) =>
      view.buffer !== from.buffer || (isInOrder(view) && view.offset === 0 && countOf(view.dims) === from.buffer.size),
  );
  return (
    isAligned &&
    steps.slice(maker + 1).every((one) => 'step' in one && !has([...one.step.reads, ...one.step.writes], from))
  );
}

function constantView(value: Value): View {
  const buffer: Buffer = { place: 'constant', size: elements(value), dtype: value.dtype, data: value.constant! };
  return whole(buffer, value.shape);
}

function sliced(x: View, { inputs: [, starts, , axes, steps], outputs: [y] }: Node): View {
  const dims = y.shape.map((size, axis): Dim => ({ size, stride: x.dims[axis].stride }));
  let { offset } = x;
  if (!starts?.constant || (axes && !axes.constant) || (steps && !steps.constant)) {
    throw new Unsupported('a slice whose place depends on numbers');
  }
  starts.constant.forEach((start, i) => {
    const named = axes ? axes.constant![i] : i;
    const axis = named < 0 ? named + dims.length : named;
    const step = steps?.constant?.[i] ?? 1;
    const { size, stride } = x.dims[axis];
    const from = Math.min(Math.max(start < 0 ? start + size : start, 0), step < 0 ? size - 1 : size);
    offset += from * stride;
    dims[axis] = { size: dims[axis].size, stride: stride * step };
  });
  return { ...x, offset, dims };
}

/** One of the parts that Split cuts a value into. */
function part(x: View, node: Node, value: Value): View {
  const axis = axisOf(node);
  const before = node.outputs.slice(0, node.outputs.indexOf(value)).reduce((sum, { shape }) => sum + shape[axis], 0);
  const dims = x.dims.map((dim, i) => ({ ...dim, size: value.shape[i] }));
  return { ...x, offset: x.offset + before * x.dims[axis].stride, dims };
}

function widenStep(bytes: View, wide: View): Step {
  const { size } = wide.buffer;
  return {
    key: `widen ${size}`,
    reads: [bytes],
    writes: [wide],
    emit(code, [from, to]) {
      code.repeat(size, 4, (i) => {
        code.get(to);
        code.get(i);
        code.i32(2);
        code.op('i32.shl');
        code.op('i32.add');
        code.get(from);
        code.get(i);
        code.op('i32.add');
        code.memory('v128.load32_zero');
        code.op('i16x8.extend_low_i8x16_u');
        code.op('i32x4.extend_low_i16x8_u');
        code.memory('v128.store');
      });
    },
  };
}
