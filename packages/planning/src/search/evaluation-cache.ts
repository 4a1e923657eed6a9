import { type ArrayOf, allocate, type DType, fail, type Game } from '@coplay/core';
import type { CoPlayerRows } from './networks';

/** Identifies an evaluation, together with the state and, where networks read them, the previous actions. */
export interface Query {
  seat: number;
  player: number;
  goal: number;
  /** 0 unless networks read it */
  root: number;
}

/** How an {@link EvaluationCache} tells queries apart. */
export interface CacheSetup {
  readonly game: Game;
  /** Whether equal queries share an entry. */
  readonly cacheAnswers: boolean;
  readonly previousActions: boolean;
  readonly root: boolean;
}

const FIRST_CAPACITY = 256;

/**
 * Queries of a network and its answers: entry e is one (state, seat, player, goal), with room for K probabilities and a
 * value. Entries are numbered in the order of their queries, so the entries that wait for an answer are the last ones,
 * and the arrays of a batch of rows are views of the cache. A hash table of open addressing finds equal queries.
 */
export class EvaluationCache {
  /** Number of entries; those from `answered` on have no answer yet. */
  count = 0;
  answered = 0;
  /** [capacity, K] probabilities; -1 where the action is illegal */
  probabilities: Float32Array;
  /** [capacity] */
  values: Float32Array;
  private capacity = FIRST_CAPACITY;
  private states: ArrayOf<DType>;
  private words: Int32Array | Uint8Array;
  private seats: Int32Array;
  private players: Int32Array;
  private goals: Int32Array;
  private roots: Int32Array;
  private previous: Int32Array;
  private hashes: Int32Array;
  /** [slots] 1 + entry, 0 for none; at most half full */
  private slots: Int32Array;
  private readonly wordsOfState: number;
  private readonly mask: Uint8Array;

  constructor(private readonly setup: CacheSetup) {
    const { stateType, stateSize, actions, agents } = setup.game;
    this.states = allocate(stateType, FIRST_CAPACITY * stateSize) as ArrayOf<DType>;
    this.words = wordsOf(this.states, stateSize);
    this.wordsOfState = (stateSize * this.states.BYTES_PER_ELEMENT) / this.words.BYTES_PER_ELEMENT;
    this.probabilities = new Float32Array(FIRST_CAPACITY * actions);
    this.values = new Float32Array(FIRST_CAPACITY);
    this.seats = new Int32Array(FIRST_CAPACITY);
    this.players = new Int32Array(FIRST_CAPACITY);
    this.goals = new Int32Array(FIRST_CAPACITY);
    this.roots = new Int32Array(FIRST_CAPACITY);
    this.previous = new Int32Array(setup.previousActions ? FIRST_CAPACITY * agents.length : 0);
    this.hashes = new Int32Array(FIRST_CAPACITY);
    this.slots = new Int32Array(2 * FIRST_CAPACITY);
    this.mask = new Uint8Array(actions);
  }

  /** The entry of a query: a new one, unless an equal query came before. */
  request(query: Query, states: ArrayOf<DType>, offset: number, previous: Int32Array, previousOffset: number): number {
    if (this.count === this.capacity) this.grow();
    const entry = this.count;
    this.write(entry, query, states, offset, previous, previousOffset);
    if (this.setup.cacheAnswers) {
      const hash = this.hashOf(entry);
      let slot = hash & (this.slots.length - 1);
      for (let found = this.slots[slot]; found !== 0; found = this.slots[slot]) {
        if (this.hashes[found - 1] === hash && this.isEqual(found - 1, entry)) return found - 1;
        slot = (slot + 1) & (this.slots.length - 1);
      }
      this.hashes[entry] = hash;
      this.slots[slot] = entry + 1;
    }
    this.count++;
    return entry;
  }

  /** The queries without an answer, as rows. */
  pending(): CoPlayerRows {
    const { game, previousActions, root } = this.setup;
    const { answered: from, count: to } = this;
    const A = game.agents.length;
    return {
      rows: to - from,
      states: this.states.subarray(from * game.stateSize, to * game.stateSize) as ArrayOf<DType>,
      seats: this.seats.subarray(from, to),
      players: this.players.subarray(from, to),
      goals: this.goals.subarray(from, to),
      ...(previousActions && { previousActions: this.previous.subarray(from * A, to * A) }),
      ...(root && { roots: this.roots.subarray(from, to) }),
    };
  }

  /**
   * Takes the answers to the first `rows` pending queries.
   *
   * @param name    of the network, for messages
   * @param logits  [rows, K]
   * @param values  [rows]; undefined for networks without values
   */
  answer(rows: number, name: string, logits: Float32Array | undefined, values?: Float32Array): void {
    const { game } = this.setup;
    const K = game.actions;
    for (let row = 0; row < rows; row++) {
      const entry = this.answered + row;
      game.legal(this.states, entry * game.stateSize, this.seats[entry], this.mask, 0);
      const isFine = maskedSoftmax(logits, row * K, this.mask, this.probabilities, entry * K);
      if (!isFine) refuse(values ? `${name}.logits` : name, logits!.subarray(row * K, (row + 1) * K));
      if (!values) continue;
      if (!Number.isFinite(values[row])) refuse(`${name}.values`, values.subarray(row, row + 1));
      this.values[entry] = values[row];
    }
    this.answered += rows;
  }

  clear(): void {
    this.count = 0;
    this.answered = 0;
    if (this.setup.cacheAnswers) this.slots.fill(0);
  }

  private write(
    entry: number,
    { seat, player, goal, root }: Query,
    states: ArrayOf<DType>,
    offset: number,
    previous: Int32Array,
    previousOffset: number,
  ): void {
    const S = this.setup.game.stateSize;
    for (let i = 0; i < S; i++) this.states[entry * S + i] = states[offset + i];
    this.seats[entry] = seat;
    this.players[entry] = player;
    this.goals[entry] = goal;
    this.roots[entry] = this.setup.root ? root : 0;
    if (!this.setup.previousActions) return;
    const A = this.setup.game.agents.length;
    for (let i = 0; i < A; i++) this.previous[entry * A + i] = previous[previousOffset + i];
  }

  private hashOf(entry: number): number {
    const { words, wordsOfState: W } = this;
    let hash = Math.imul(this.seats[entry] + 1, 0x9e3779b1) ^ Math.imul(this.players[entry] + 1, 0x85ebca6b);
    hash = Math.imul(hash ^ this.goals[entry] ^ Math.imul(this.roots[entry], 0xc2b2ae35), 0x27d4eb2f);
    for (let i = entry * W; i < (entry + 1) * W; i++) {
      hash = Math.imul(hash ^ words[i], 0x85ebca6b);
      hash ^= hash >>> 15;
    }
    if (this.setup.previousActions) {
      const A = this.setup.game.agents.length;
      for (let i = entry * A; i < (entry + 1) * A; i++) hash = Math.imul(hash ^ this.previous[i], 0x9e3779b1);
    }
    return hash ^ (hash >>> 13);
  }

  private isEqual(a: number, b: number): boolean {
    if (this.seats[a] !== this.seats[b] || this.players[a] !== this.players[b]) return false;
    if (this.goals[a] !== this.goals[b] || this.roots[a] !== this.roots[b]) return false;
    const { words, wordsOfState: W } = this;
    for (let i = 0; i < W; i++) if (words[a * W + i] !== words[b * W + i]) return false;
    if (!this.setup.previousActions) return true;
    const A = this.setup.game.agents.length;
    for (let i = 0; i < A; i++) if (this.previous[a * A + i] !== this.previous[b * A + i]) return false;
    return true;
  }

  /** Twice the room; entries keep their numbers. */
  private grow(): void {
    const { game, cacheAnswers } = this.setup;
    this.capacity *= 2;
    this.states = doubled(this.states);
    this.words = wordsOf(this.states, game.stateSize);
    this.probabilities = doubled(this.probabilities);
    this.values = doubled(this.values);
    this.seats = doubled(this.seats);
    this.players = doubled(this.players);
    this.goals = doubled(this.goals);
    this.roots = doubled(this.roots);
    this.previous = doubled(this.previous);
    this.hashes = doubled(this.hashes);
    this.slots = new Int32Array(2 * this.capacity);
    if (!cacheAnswers) return;
    for (let entry = 0; entry < this.count; entry++) {
      let slot = this.hashes[entry] & (this.slots.length - 1);
      while (this.slots[slot] !== 0) slot = (slot + 1) & (this.slots.length - 1);
      this.slots[slot] = entry + 1;
    }
  }
}

function refuse(what: string, got: Float32Array): never {
  const where = `search: answer of networks: ${what}`;
  fail(
    where,
    'numbers that are not NaN or Infinity',
    `[${Array.from(got).join(', ')}]`,
    'Look for NaN in the parameters.',
  );
}

/** The states viewed as 32-bit words (bytes if they don't divide), so that comparison is bitwise. */
function wordsOf(states: ArrayOf<DType>, stateSize: number): Int32Array | Uint8Array {
  const isWhole = (stateSize * states.BYTES_PER_ELEMENT) % 4 === 0;
  return isWhole ? new Int32Array(states.buffer) : new Uint8Array(states.buffer);
}

function doubled<T extends ArrayOf<DType>>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(2 * array.length);
  larger.set(array as Float32Array);
  return larger;
}

/**
 * Probabilities of legal actions: exp(logits) normalised over them, -1 where an action is illegal, so that it differs
 * from a legal action of probability 0. Uniform where there are no logits, or none above -Infinity is legal.
 *
 * @param logits         K of them from `logitsOffset` on
 * @param mask           [K] 1 where legal, at least one
 * @param probabilities  K of them from `offset` on are written
 * @returns whether the logits were numbers, none of them NaN or +Infinity
 */
function maskedSoftmax(
  logits: Float32Array | undefined,
  logitsOffset: number,
  mask: Uint8Array,
  probabilities: Float32Array,
  offset: number,
): boolean {
  const K = mask.length;
  let largest = Number.NEGATIVE_INFINITY;
  if (logits) for (let k = 0; k < K; k++) if (mask[k] === 1) largest = Math.max(largest, logits[logitsOffset + k]);
  const isUniform = !logits || largest === Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let k = 0; k < K; k++) {
    const weight = mask[k] === 0 ? 0 : isUniform ? 1 : Math.exp(logits[logitsOffset + k] - largest);
    probabilities[offset + k] = weight;
    sum += weight;
  }
  for (let k = 0; k < K; k++) {
    probabilities[offset + k] = mask[k] === 0 ? -1 : probabilities[offset + k] / sum;
  }
  return sum > 0; // not so for NaN
}
