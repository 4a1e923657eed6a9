import { fail, show } from './errors';
import { tagOf } from './typed-arrays';

/** What {@link Generator.state} returns: the four words of xoshiro128**. Plain JSON. */
export type GeneratorState = readonly [number, number, number, number];

/**
 * A source of random numbers. All randomness of a run comes from generators that descend from one seed.
 * The same seed gives the same numbers on every machine.
 */
export interface Generator {
  /** An integer in [0, 2^32). */
  uint32(): number;
  /** A number in [0, 1) with 53 random bits. */
  uniform(): number;
  /** An integer in [0, n), without bias; n in 1..2^32. */
  integer(n: number): number;
  /**
   * A sample of the standard normal distribution (Marsaglia's polar method; the second one is thrown away, so that
   * state stays four words).
   */
  normal(): number;
  /** Shuffles an array in place (Fisher-Yates) and returns it. */
  shuffle<T extends { length: number; [index: number]: number }>(array: T): T;
  /**
   * The child with a key, independent of its parent and of the children with other keys. Does not advance the parent:
   * the same key gives the same child until the parent draws.
   *
   * @param key  an integer in [0, 2^32)
   */
  split(key: number): Generator;
  /**
   * A new child, and advances the parent by one draw: the next call gives another child. For functions that hand a
   * generator on.
   */
  fork(): Generator;
  state(): GeneratorState;
  restore(state: GeneratorState): void;
}

const MAX_SEED = Number.MAX_SAFE_INTEGER;

/**
 * xoshiro128** (Blackman and Vigna 2018), seeded through a mixing function.
 *
 * @param seed  an integer in [0, 2^53)
 * @throws CoplayError for any other seed
 */
export function createGenerator(seed: number): Generator {
  checkSeed('createGenerator', seed);
  return new Xoshiro128(expand(seed >>> 0, Math.floor(seed / 2 ** 32), 0, 0));
}

/** A generator that continues from a saved state. */
export function generatorFrom(state: GeneratorState): Generator {
  checkState('generatorFrom', state);
  return new Xoshiro128(state);
}

/**
 * The seed of the i-th child of `seed`: environment i of `vectorEnv(game, { seed })` plays exactly as
 * `parallelEnv(game, { seed: splitSeed(seed, i) })`.
 *
 * @param seed   an integer in [0, 2^53)
 * @param index  an integer in [0, 2^32)
 * @returns an integer in [0, 2^53)
 */
export function splitSeed(seed: number, index: number): number {
  checkSeed('splitSeed', seed);
  checkKey('splitSeed: index', index);
  const [a, b] = expand(seed >>> 0, Math.floor(seed / 2 ** 32), index, 0x5eed);
  return (b & 0x1fffff) * 2 ** 32 + a;
}

/**
 * The seed of the stream of `seed` that is for one purpose. Streams of one seed with different purposes are
 * independent: this is how a run's games, its agents and the games of its evaluation descend from one seed without
 * repeating each other.
 *
 * @param seed     an integer in [0, 2^53)
 * @param purpose  the stream's purpose, such as `train/env` or `evaluate/agents`; not empty
 * @returns an integer in [0, 2^53)
 */
export function streamSeed(seed: number, purpose: string): number {
  checkSeed('streamSeed', seed);
  if (typeof purpose !== 'string' || purpose === '') {
    fail('streamSeed: purpose', "a word for the stream's purpose", show(purpose), "Name it, such as 'train/env'.");
  }
  const [a, b] = expand(seed >>> 0, Math.floor(seed / 2 ** 32), hash(purpose, 0x811c9dc5), hash(purpose, 0x9747b28c));
  return (b & 0x1fffff) * 2 ** 32 + a;
}

/** 32 bits of a text: its UTF-16 units, mixed one after the other into `start`. */
function hash(text: string, start: number): number {
  let h = start;
  for (let i = 0; i < text.length; i++) h = mix(Math.imul(h, 0x01000193) ^ text.charCodeAt(i));
  return h >>> 0;
}

function checkSeed(where: string, seed: number): void {
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED) {
    fail(where, 'a seed that is an integer from 0 to 2^53 - 1', show(seed), 'Give a whole number such as 1.');
  }
}

function checkKey(where: string, key: number): void {
  if (typeof key !== 'number' || key >>> 0 !== key) {
    fail(where, 'an integer from 0 to 2^32 - 1', show(key), 'Give each child a whole number of its own, such as 0.');
  }
}

/** In a function of its own, so that `integer` stays short enough to be inlined. */
function checkRange(n: number): void {
  if (n !== 4294967296) {
    const remedy = 'Ask how many there are to draw from before you draw: an empty list has none.';
    fail('generator.integer', 'a range n that is an integer from 1 to 2^32', show(n), remedy);
  }
}

function checkState(where: string, state: GeneratorState): void {
  const valid =
    Array.isArray(state) &&
    state.length === 4 &&
    state.every((word) => Number.isInteger(word) && word >= 0 && word < 4294967296) &&
    state.some((word) => word !== 0);
  if (!valid) fail(where, 'four words from 0 to 2^32 - 1, not all 0', show(state), 'Give what state() returned.');
}

/** Four words out of four, by rounds of the murmur3 finaliser over a running sum. */
function expand(a: number, b: number, c: number, d: number): [number, number, number, number] {
  const words: [number, number, number, number] = [0, 0, 0, 0];
  let h = 0x9e3779b9;
  for (const word of [a, b, c, d]) h = mix((h ^ mix((word + 0x9e3779b9) | 0)) + 0x85ebca6b);
  for (let i = 0; i < 4; i++) {
    h = (h + 0x9e3779b9) | 0;
    words[i] = mix(h ^ Math.imul(a, i + 1) ^ Math.imul(c, 0x27d4eb2f + 2 * i)) >>> 0;
  }
  if ((words[0] | words[1] | words[2] | words[3]) === 0) words[0] = 1;
  return words;
}

function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

class Xoshiro128 implements Generator {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  constructor(words: GeneratorState) {
    // As signed 32-bit integers, which the engine keeps in the object: it would box larger numbers.
    [this.a, this.b, this.c, this.d] = words.map((word) => word | 0);
  }

  uint32(): number {
    return this.next() >>> 0;
  }

  /** 32 random bits as a signed integer, for the same reason. */
  private next(): number {
    const times5 = Math.imul(this.b, 5);
    const result = Math.imul((times5 << 7) | (times5 >>> 25), 9);
    const shifted = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= shifted;
    this.d = (this.d << 11) | (this.d >>> 21);
    return result;
  }

  uniform(): number {
    const high = this.next() >>> 5; // 27 bits
    const low = this.next() >>> 6; // 26 bits
    return (high * 67108864 + low) / 9007199254740992;
  }

  integer(n: number): number {
    if (typeof n !== 'number' || n >>> 0 !== n || n === 0) checkRange(n);
    for (;;) {
      const word = this.next() >>> 0;
      const result = word % n;
      // The words from word - result on are the multiples of n; a last block of fewer than n would favour small
      // numbers.
      if (word - result + n <= 4294967296) return result;
    }
  }

  normal(): number {
    for (;;) {
      const x = 2 * this.uniform() - 1;
      const y = 2 * this.uniform() - 1;
      const r = x * x + y * y;
      if (r > 0 && r < 1) return x * Math.sqrt((-2 * Math.log(r)) / r);
    }
  }

  shuffle<T extends { length: number; [index: number]: number }>(array: T): T {
    if (!(Array.isArray(array) || (ArrayBuffer.isView(array) && tagOf(array) !== ''))) {
      fail('generator.shuffle', 'an array or a typed array', show(array), 'Give the array to shuffle in place.');
    }
    for (let i = array.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      const swapped = array[i];
      array[i] = array[j];
      array[j] = swapped;
    }
    return array;
  }

  split(key: number): Generator {
    checkKey('generator.split', key);
    const [a, b] = expand(this.a, this.b, key, 0xc0);
    const [c, d] = expand(this.c, this.d, key, 0xde);
    return new Xoshiro128([a, b, c, d]);
  }

  fork(): Generator {
    return this.split(this.uint32());
  }

  state(): GeneratorState {
    return [this.a >>> 0, this.b >>> 0, this.c >>> 0, this.d >>> 0];
  }

  restore(state: GeneratorState): void {
    checkState('generator.restore', state);
    [this.a, this.b, this.c, this.d] = state.map((word) => word | 0);
  }
}

/**
 * Refuses anything but a generator of random numbers.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkGenerator(where: string, value: unknown, name = 'generator'): void {
  const { uniform, integer, split, fork } = (value ?? {}) as Partial<Generator>;
  if ([uniform, integer, split, fork].every((method) => typeof method === 'function')) return;
  fail(`${where}: ${name}`, 'a generator', show(value), 'Make one with createGenerator(1).');
}
