import { type Graph, type Node, rewrite, type Value } from '../graph';

/** Operations whose first two operands may change places. */
const COMMUTATIVE = new Set(['Add', 'Mul', 'And', 'Or', 'Xor', 'Equal']);

/** Merges nodes that compute the same from the same values, and constants that hold the same. */
export function commonSubexpressions(graph: Graph): Graph {
  const ids = new Identities();
  const seen = new Map<string, readonly Value[]>();
  const merged = rewrite(graph, (node, { builder }) => {
    const inputs = node.inputs.map((input) => input && ids.representative(input));
    const key = keyOf(node, inputs, ids);
    const known = seen.get(key);
    if (known) return known;
    seen.set(key, node.outputs);
    return builder.append({ ...node, inputs });
  });
  const outputs = merged.outputs.map(({ name, value }) => ({ name, value: ids.representative(value) }));
  return { ...merged, outputs };
}

function keyOf(node: Node, inputs: readonly (Value | undefined)[], ids: Identities): string {
  const operands = inputs.map((input) => (input ? ids.of(input) : -1));
  if (COMMUTATIVE.has(node.op)) operands.sort((a, b) => a - b);
  return `${node.op}|${node.domain ?? ''}|${operands}|${attributesKey(node)}|${node.outputs.length}`;
}

/** Names may come in any order. */
function attributesKey({ attributes }: Node): string {
  const names = Object.keys(attributes).sort();
  return names.map((name) => `${name}=${JSON.stringify(attributes[name])}`).join();
}

/** Numbers of values; constants with equal contents are one. */
class Identities {
  private readonly numbers = new Map<Value, number>();
  private readonly constants = new Map<string, Value[]>();
  private readonly representatives = new Map<Value, Value>();

  of(value: Value): number {
    const known = this.numbers.get(value);
    if (known !== undefined) return known;
    this.numbers.set(value, this.numbers.size);
    return this.numbers.size - 1;
  }

  /** The first constant with these contents; any other value itself. */
  representative(value: Value): Value {
    if (!value.constant) return value;
    const known = this.representatives.get(value);
    if (known) return known;
    const found = this.equalConstant(value);
    this.representatives.set(value, found);
    return found;
  }

  private equalConstant(value: Value): Value {
    const key = `${value.dtype}[${value.shape}]${checksum(value)}`;
    const candidates = this.constants.get(key) ?? [];
    const found = candidates.find((candidate) => sameContents(candidate, value));
    if (found) return found;
    this.constants.set(key, [...candidates, value]);
    return value;
  }
}

function bytesOf({ constant }: Value): Uint8Array {
  const { buffer, byteOffset, byteLength } = constant!;
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** FNV-1a over the bytes (Fowler, Noll, Vo). */
function checksum(value: Value): number {
  let hash = 0x811c9dc5;
  for (const byte of bytesOf(value)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

/** Bytes are compared, so that 0 and -0 are told apart. */
function sameContents(a: Value, b: Value): boolean {
  const [left, right] = [bytesOf(a), bytesOf(b)];
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}
