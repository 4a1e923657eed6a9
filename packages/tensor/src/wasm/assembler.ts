/**
 * An encoder for WebAssembly modules: the instructions that our kernels use, by their names in the text format.
 * Sections and instructions are as in the specification, https://webassembly.github.io/spec/core/binary.
 */

/** The types of locals. */
export type Kind = 'i32' | 'f32' | 'f64' | 'v128';

/** A parameter or a local variable of a function. */
export interface Local {
  readonly index: number;
  readonly kind: Kind;
}

const KINDS: Record<Kind, number> = { i32: 0x7f, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/** Instructions without immediate operands. */
const PLAIN = {
  unreachable: 0x00,
  else: 0x05,
  end: 0x0b,
  return: 0x0f,
  drop: 0x1a,
  select: 0x1b,
  'i32.eqz': 0x45,
  'i32.eq': 0x46,
  'i32.ne': 0x47,
  'i32.lt_s': 0x48,
  'i32.lt_u': 0x49,
  'i32.gt_s': 0x4a,
  'i32.ge_s': 0x4e,
  'i32.ge_u': 0x4f,
  'f32.eq': 0x5b,
  'f32.ne': 0x5c,
  'f32.lt': 0x5d,
  'f32.gt': 0x5e,
  'f32.ge': 0x60,
  'i32.add': 0x6a,
  'i32.sub': 0x6b,
  'i32.mul': 0x6c,
  'i32.and': 0x71,
  'i32.or': 0x72,
  'i32.shl': 0x74,
  'i32.shr_s': 0x75,
  'f32.add': 0x92,
  'f32.mul': 0x94,
  'f32.div': 0x95,
  'f32.convert_i32_s': 0xb2,
  'f64.convert_i32_s': 0xb7,
  'f64.promote_f32': 0xbb,
  'f32.demote_f64': 0xb6,
} as const;

/** Instructions on vectors, behind the prefix 0xfd. */
const VECTOR = {
  'i32x4.splat': 0x11,
  'f32x4.splat': 0x13,
  'i32x4.eq': 0x37,
  'i32x4.ne': 0x38,
  'i32x4.lt_s': 0x39,
  'i32x4.gt_s': 0x3b,
  'i32x4.le_s': 0x3d,
  'i32x4.ge_s': 0x3f,
  'f32x4.eq': 0x41,
  'f32x4.ne': 0x42,
  'f32x4.lt': 0x43,
  'f32x4.gt': 0x44,
  'f32x4.le': 0x45,
  'f32x4.ge': 0x46,
  'v128.not': 0x4d,
  'v128.and': 0x4e,
  'v128.andnot': 0x4f,
  'v128.or': 0x50,
  'v128.xor': 0x51,
  'v128.bitselect': 0x52,
  'v128.any_true': 0x53,
  'f32x4.demote_f64x2_zero': 0x5e,
  'f64x2.promote_low_f32x4': 0x5f,
  'f32x4.ceil': 0x67,
  'f32x4.floor': 0x68,
  'f32x4.nearest': 0x6a,
  'i16x8.extend_low_i8x16_u': 0x89,
  'f64x2.nearest': 0x94,
  'i32x4.abs': 0xa0,
  'i32x4.neg': 0xa1,
  'i32x4.extend_low_i16x8_u': 0xa9,
  'i32x4.shl': 0xab,
  'i32x4.shr_s': 0xac,
  'i32x4.shr_u': 0xad,
  'i32x4.add': 0xae,
  'i32x4.sub': 0xb1,
  'i32x4.mul': 0xb5,
  'i32x4.min_s': 0xb6,
  'i32x4.max_s': 0xb8,
  'f32x4.abs': 0xe0,
  'f32x4.neg': 0xe1,
  'f32x4.sqrt': 0xe3,
  'f32x4.add': 0xe4,
  'f32x4.sub': 0xe5,
  'f32x4.mul': 0xe6,
  'f32x4.div': 0xe7,
  'f32x4.min': 0xe8,
  'f32x4.max': 0xe9,
  'f32x4.pmin': 0xea,
  'f32x4.pmax': 0xeb,
  'f64x2.sub': 0xf1,
  'f64x2.mul': 0xf2,
  'f64x2.div': 0xf3,
  'i32x4.trunc_sat_f32x4_s': 0xf8,
  'f32x4.convert_i32x4_s': 0xfa,
  'i32x4.trunc_sat_f64x2_s_zero': 0xfc,
  'f64x2.convert_low_i32x4_s': 0xfe,
  'f32x4.relaxed_madd': 0x105,
  'f32x4.relaxed_nmadd': 0x106,
} as const;

/** Loads and stores: opcode (behind 0xfd where it's a pair), and the logarithm of the natural alignment. */
const MEMORY = {
  'i32.load': [0x28, 2],
  'f32.load': [0x2a, 2],
  'i32.store': [0x36, 2],
  'f32.store': [0x38, 2],
  'i32.load8_u': [0x2d, 0],
} as const;

const VECTOR_MEMORY = {
  'v128.load': [0x00, 4],
  'v128.load32_splat': [0x09, 2],
  'v128.store': [0x0b, 4],
  'v128.load32_zero': [0x5c, 2],
} as const;

const LANES = {
  'i32x4.extract_lane': 0x1b,
  'i32x4.replace_lane': 0x1c,
  'f32x4.extract_lane': 0x1f,
  'f32x4.replace_lane': 0x20,
} as const;

const STORED_LANES = { 'v128.store32_lane': [0x5a, 2], 'v128.store64_lane': [0x5b, 3] } as const;

/** A function that the page or Node gives to a module. */
export interface ImportedFunction {
  readonly name: string;
  readonly params: readonly Kind[];
  readonly results: readonly Kind[];
}

/** The instructions of one function. Methods append; values that they leave are on WebAssembly's stack. */
export class Code {
  readonly params: readonly Local[];
  private readonly bytes: number[] = [];
  private readonly locals: Kind[] = [];
  private readonly free: Local[] = [];
  private scopes: Local[][] = [];

  /**
   * @param isFused whether {@link Code.multiplyAdd} may use the relaxed instruction, which rounds once on most machines
   */
  constructor(
    params: readonly Kind[],
    private readonly isFused = false,
  ) {
    this.params = params.map((kind, index) => ({ index, kind }));
  }

  /** A local variable, for the function or for the present {@link scope}. */
  local(kind: Kind): Local {
    const at = this.free.findIndex((one) => one.kind === kind);
    const found = at >= 0 ? this.free.splice(at, 1)[0] : undefined;
    const local = found ?? { index: this.params.length + this.locals.push(kind) - 1, kind };
    this.scopes.at(-1)?.push(local);
    return local;
  }

  /** Code whose locals may be used again by the code that follows it. */
  scope(body: () => void): void {
    this.scopes.push([]);
    body();
    this.free.push(...this.scopes.pop()!);
  }

  get(local: Local): void {
    this.bytes.push(0x20, ...unsigned(local.index));
  }

  set(local: Local): void {
    this.bytes.push(0x21, ...unsigned(local.index));
  }

  tee(local: Local): void {
    this.bytes.push(0x22, ...unsigned(local.index));
  }

  /** Takes a value from the stack into a new local. */
  keep(kind: Kind): Local {
    const local = this.local(kind);
    this.set(local);
    return local;
  }

  i32(value: number): void {
    this.bytes.push(0x41, ...signed(value | 0));
  }

  f32(value: number): void {
    this.bytes.push(0x43, ...new Uint8Array(Float32Array.of(value).buffer));
  }

  /** The same float32 in all four lanes. */
  splat(value: number): void {
    const lane = new Uint8Array(Float32Array.of(value).buffer);
    this.bytes.push(0xfd, 0x0c, ...lane, ...lane, ...lane, ...lane);
  }

  /** The same float64 in both lanes. */
  splat64(value: number): void {
    const lane = new Uint8Array(Float64Array.of(value).buffer);
    this.bytes.push(0xfd, 0x0c, ...lane, ...lane);
  }

  /** Four int32 lanes. */
  lanes(...values: readonly [number, number, number, number]): void {
    this.bytes.push(0xfd, 0x0c, ...new Uint8Array(Int32Array.from(values).buffer));
  }

  /** The same int32 in all four lanes. */
  splatInt(value: number): void {
    this.lanes(value, value, value, value);
  }

  op(name: keyof typeof PLAIN | keyof typeof VECTOR | 'i32.trunc_sat_f32_s' | 'i32.trunc_sat_f64_s'): void {
    if (name === 'i32.trunc_sat_f64_s') this.bytes.push(0xfc, 0x02);
    else if (name === 'i32.trunc_sat_f32_s') this.bytes.push(0xfc, 0x00);
    else if (name in PLAIN) this.bytes.push(PLAIN[name as keyof typeof PLAIN]);
    else this.bytes.push(0xfd, ...unsigned(VECTOR[name as keyof typeof VECTOR]));
  }

  /**
   * a b + c of float32 lanes; a and b are on the stack.
   *
   * @param addend leaves c on the stack
   */
  multiplyAdd(addend: () => void): void {
    if (!this.isFused) this.op('f32x4.mul');
    addend();
    this.op(this.isFused ? 'f32x4.relaxed_madd' : 'f32x4.add');
  }

  /** A load (the address is on the stack) or a store (address and value are), `offset` bytes behind the address. */
  memory(name: keyof typeof MEMORY | keyof typeof VECTOR_MEMORY, offset = 0): void {
    if (name in MEMORY) {
      const [code, align] = MEMORY[name as keyof typeof MEMORY];
      this.bytes.push(code, align, ...unsigned(offset));
    } else {
      const [code, align] = VECTOR_MEMORY[name as keyof typeof VECTOR_MEMORY];
      this.bytes.push(0xfd, code, Math.min(align, 2), ...unsigned(offset));
    }
  }

  lane(name: keyof typeof LANES, lane: number): void {
    this.bytes.push(0xfd, LANES[name], lane);
  }

  storeLane(name: keyof typeof STORED_LANES, offset: number, lane: number): void {
    const [code] = STORED_LANES[name];
    this.bytes.push(0xfd, code, 2, ...unsigned(offset), lane);
  }

  /** Lanes of four bytes picked out of two vectors: 0 to 3 of the first, 4 to 7 of the second. */
  shuffle(...picked: readonly [number, number, number, number]): void {
    this.bytes.push(0xfd, 0x0d, ...picked.flatMap((lane) => [4 * lane, 4 * lane + 1, 4 * lane + 2, 4 * lane + 3]));
  }

  /** Copies bytes: target, source and count are on the stack. */
  memoryCopy(): void {
    this.bytes.push(0xfc, 0x0a, 0x00, 0x00);
  }

  /** Sets bytes: target, value and count are on the stack. */
  memoryFill(): void {
    this.bytes.push(0xfc, 0x0b, 0x00);
  }

  call(index: number): void {
    this.bytes.push(0x10, ...unsigned(index));
  }

  /** Runs `body` if the i32 on the stack isn't 0. */
  when(body: () => void, otherwise?: () => void): void {
    this.bytes.push(0x04, 0x40);
    body();
    if (otherwise) {
      this.op('else');
      otherwise();
    }
    this.op('end');
  }

  /**
   * Runs `body` for counter = 0, step, 2 step, ... below `end`; at least once, so `end` must be positive.
   *
   * @param body receives the counter
   */
  repeat(end: number, step: number, body: (counter: Local) => void): void {
    this.scope(() => {
      const counter = this.local('i32');
      this.i32(0);
      this.set(counter);
      this.bytes.push(0x03, 0x40);
      body(counter);
      this.get(counter);
      this.i32(step);
      this.op('i32.add');
      this.tee(counter);
      this.i32(end);
      this.op('i32.lt_u');
      this.bytes.push(0x0d, 0x00);
      this.op('end');
    });
  }

  /** Repeats `body` as long as it leaves an i32 on the stack that isn't 0. */
  loop(body: () => void): void {
    this.bytes.push(0x03, 0x40);
    body();
    this.bytes.push(0x0d, 0x00);
    this.op('end');
  }

  /** local += value */
  advance(local: Local, value: number): void {
    if (value === 0) return;
    this.get(local);
    this.i32(value);
    this.op('i32.add');
    this.set(local);
  }

  /** The body of the function, as a module holds it. */
  encode(): Uint8Array {
    const groups: number[] = [];
    let count = 0;
    for (let i = 0; i < this.locals.length; ) {
      let end = i;
      while (end < this.locals.length && this.locals[end] === this.locals[i]) end++;
      groups.push(...unsigned(end - i), KINDS[this.locals[i]]);
      count++;
      i = end;
    }
    const head = [...unsigned(count), ...groups];
    const size = head.length + this.bytes.length + 1;
    return joined([Uint8Array.from([...unsigned(size), ...head]), Uint8Array.from(this.bytes), Uint8Array.of(0x0b)]);
  }
}

/** Functions over an imported memory (`env.memory`). */
export class ModuleBuilder {
  private readonly functions: { readonly params: readonly Kind[]; readonly code: Code; readonly name: string }[] = [];

  constructor(private readonly imports: readonly ImportedFunction[] = []) {}

  /**
   * Adds a function without results.
   *
   * @param name for profilers
   * @returns its index, for calls
   */
  add(code: Code, name: string): number {
    this.functions.push({ params: code.params.map(({ kind }) => kind), code, name });
    return this.imports.length + this.functions.length - 1;
  }

  /** The bytes of the module, which exports one function as `run`. */
  encode(run: number): Uint8Array {
    const types: string[] = [];
    const typeOf = (params: readonly Kind[], results: readonly Kind[]): number => {
      const key = [
        0x60,
        params.length,
        ...params.map((k) => KINDS[k]),
        results.length,
        ...results.map((k) => KINDS[k]),
      ];
      const word = key.join(',');
      if (!types.includes(word)) types.push(word);
      return types.indexOf(word);
    };
    const imported = this.imports.map(({ name, params, results }) =>
      joined([nameOf('env'), nameOf(name), Uint8Array.from([0x00, ...unsigned(typeOf(params, results))])]),
    );
    const memory = joined([nameOf('env'), nameOf('memory'), Uint8Array.of(0x02, 0x00, 0x01)]);
    const declared = this.functions.map(({ params }) => Uint8Array.from(unsigned(typeOf(params, []))));
    const typeEntries = types.map((word) =>
      Uint8Array.from(word.split(',').flatMap((n, i) => (i === 1 ? unsigned(+n) : [+n]))),
    );
    return joined([
      Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00),
      section(1, typeEntries),
      section(2, [...imported, memory]),
      section(3, declared),
      section(7, [joined([nameOf('run'), Uint8Array.from([0x00, ...unsigned(run)])])]),
      section(
        10,
        this.functions.map(({ code }) => code.encode()),
      ),
      this.names(),
    ]);
  }

  /** The custom section in which profilers look for names. */
  private names(): Uint8Array {
    const entries = this.functions.map(({ name }, i) =>
      joined([Uint8Array.from(unsigned(this.imports.length + i)), nameOf(name)]),
    );
    const ofFunctions = section(1, entries);
    const body = joined([nameOf('name'), ofFunctions]);
    return joined([Uint8Array.from([0, ...unsigned(body.length)]), body]);
  }
}

function section(id: number, entries: readonly Uint8Array[]): Uint8Array {
  const body = joined([Uint8Array.from(unsigned(entries.length)), ...entries]);
  return joined([Uint8Array.from([id, ...unsigned(body.length)]), body]);
}

function nameOf(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return joined([Uint8Array.from(unsigned(bytes.length)), bytes]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** LEB128 of a whole number from 0 to 2^32 - 1. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return bytes;
}

/** LEB128 of an int32. */
function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const byte = rest & 127;
    const isLast = (rest >> 7 === 0 && (byte & 64) === 0) || (rest >> 7 === -1 && (byte & 64) !== 0);
    if (isLast) return [...bytes, byte];
    bytes.push(byte | 128);
  }
}
