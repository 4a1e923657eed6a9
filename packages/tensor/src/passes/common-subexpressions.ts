import { type ConstantData, type Graph, type Node, rewrite, type Value } from '../graph';

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
  const names = Object.keys(attributes);
  if (names.length === 0) return '';
  names.sort();
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
    const candidates = this.constants.get(key);
    const found = candidates?.find((candidate) => sameContents(candidate, value));
    if (found) return found;
    if (candidates) candidates.push(value);
    else this.constants.set(key, [value]);
    return value;
  }
}

/** Entries that the checksum of a constant looks at. */
const SAMPLES = 16;

/** FNV-1a (Fowler, Noll, Vo) over some entries: a few constants that share it are compared in full. */
function checksum({ constant }: Value): number {
  const words = wordsOf(constant!);
  const step = Math.max(1, Math.floor(words.length / SAMPLES));
  let hash = 0x811c9dc5;
  for (let i = 0; i < words.length; i += step) hash = Math.imul(hash ^ words[i], 0x01000193);
  return hash;
}

/** Bits are compared, so that 0 and -0 differ. */
function sameContents(a: Value, b: Value): boolean {
  const [left, right] = [wordsOf(a.constant!), wordsOf(b.constant!)];
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}

function wordsOf(data: ConstantData): Int32Array | Uint8Array {
  return data instanceof Float32Array ? new Int32Array(data.buffer, data.byteOffset, data.length) : data;
}
