import { type Graph, type Node, type RewriteContext, rewrite, sameShape, type Value } from '../../graph';
import { axisOf, madeBy } from '../patterns';
import { type StepClass, stepClasses } from './step-classes';

/**
 * The backward pass through a recurrence is linear in the gradient from later steps: each product of it with values
 * known from the forward pass is regrouped, (d a) b = d (a b) and d a - d b = d (a - b). The known factors can then be
 * computed for all steps at once, before the backward pass. Results differ by rounding alone.
 */
export function knownFactors(graph: Graph): Graph {
  const factors = new Factors(graph);
  return rewrite(graph, (node, context) => {
    if (node.op === 'Mul') return factors.product(node, context);
    if (node.op === 'Sub' || node.op === 'Add') return factors.sum(node, context);
    if (node.op === 'Concat' && axisOf(node) > 0) return factors.joined(node, context);
    return undefined;
  });
}

/** A product d k of a gradient and a known factor. */
interface Split {
  readonly late: Value;
  readonly known: Value;
}

class Factors {
  private readonly classes: ReadonlyMap<Value, StepClass>;
  /** Products with a gradient, and of what. */
  private readonly splits = new Map<Value, Split>();
  /** New values, and their operands. */
  private readonly made = new Map<Value, readonly Value[]>();

  /** What new values stand for. */
  private readonly originals = new Map<Value, Value>();

  constructor(graph: Graph) {
    const classes = new Map<Value, StepClass>();
    for (const [node, found] of stepClasses(graph)) for (const output of node.outputs) classes.set(output, found);
    this.classes = classes;
  }

  product(node: Node, context: RewriteContext): readonly Value[] | undefined {
    const [a, b] = node.inputs as [Value, Value];
    const [output] = node.outputs;
    if (!sameShape(a.shape, output.shape) || !sameShape(b.shape, output.shape) || a === b) return undefined;
    return this.regrouped(a, b, output, context) ?? this.regrouped(b, a, output, context) ?? this.note(a, b, output);
  }

  sum(node: Node, context: RewriteContext): readonly Value[] | undefined {
    const [a, b] = (node.inputs as [Value, Value]).map((input) => this.splits.get(input));
    const [output] = node.outputs;
    if (!a || !b || a.late !== b.late) return undefined;
    if (node.inputs.some((input) => context.uses(input!) > 1)) return undefined;
    const known = this.append(node, [a.known, b.known], output, context);
    return [this.times(a.late, known, output, context)];
  }

  /** Products of one gradient, side by side, are the product of its copies with the known factors, side by side. */
  joined(node: Node, context: RewriteContext): readonly Value[] | undefined {
    const parts = node.inputs.map((input) => this.splits.get(input!));
    const [first] = parts;
    if (!first || node.inputs.length < 2 || parts.some((part) => part?.late !== first.late)) return undefined;
    if (node.inputs.some((input) => context.uses(input!) > 1)) return undefined;
    const [output] = node.outputs;
    const known = this.append(
      node,
      parts.map((part) => part!.known),
      output,
      context,
    );
    const copies = context.builder.append({ ...node, inputs: parts.map(() => first.late), outputs: [{ ...output }] });
    return [this.times(copies[0], known, output, context)];
  }

  /** (d a) b = d (a b) */
  private regrouped(product: Value, b: Value, output: Value, context: RewriteContext): readonly Value[] | undefined {
    const split = this.splits.get(product);
    if (!split || !madeBy(product, context, 'Mul') || !this.isKnown(b, split.late)) return undefined;
    const known = context.builder.op('Mul', [split.known, b], output);
    this.made.set(known, [split.known, b]);
    return [this.times(split.late, known, output, context)];
  }

  private times(late: Value, known: Value, output: Value, context: RewriteContext): Value {
    const product = context.builder.op('Mul', [late, known], output);
    this.originals.set(product, output);
    this.splits.set(product, { late, known });
    return product;
  }

  private append(node: Node, inputs: readonly Value[], { shape, dtype }: Value, { builder }: RewriteContext): Value {
    const [known] = builder.append({ ...node, inputs, outputs: [{ shape, dtype }] });
    this.made.set(known, inputs);
    return known;
  }

  private note(a: Value, b: Value, output: Value): undefined {
    for (const [late, known] of [
      [a, b],
      [b, a],
    ]) {
      if (!this.isLate(late) || !this.isKnown(known, late)) continue;
      this.splits.set(output, { late, known });
      return undefined;
    }
    return undefined;
  }

  private isLate(value: Value): boolean {
    return this.classOf(value)?.isRecurrent === true;
  }

  /** Whether a value depends on no step of a gradient, and is itself one of many steps. */
  private isKnown(value: Value, late: Value): boolean {
    const parts = this.made.get(value);
    if (parts) return parts.every((part) => this.isKnown(part, late));
    const found = this.classOf(late);
    return (
      found !== undefined && this.classOf(value) !== undefined && !found.reaches(this.originals.get(value) ?? value)
    );
  }

  private classOf(value: Value): StepClass | undefined {
    return this.classes.get(this.originals.get(value) ?? value);
  }
}
