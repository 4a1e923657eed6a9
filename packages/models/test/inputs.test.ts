import type { Game } from '@coplay/core';
import { inputEncoder, jointEncoder, type RowSource } from '@coplay/models';
import { describe, expect, it } from 'vitest';

const game = {
  agents: ['a', 'b', 'c'],
  actions: 2,
  observation: {
    planes: { shape: [1, 2, 2], dtype: 'uint8' },
    time: { shape: [1], dtype: 'float32' },
  },
} as unknown as Game;

/** Two steps of three agents, side by side: planes count up, time is step + agent / 10. */
const source = (seat: number): RowSource => ({
  rows: 2,
  seat,
  offset: seat,
  stride: 3,
  observations: {
    planes: Uint8Array.from({ length: 24 }, (_, i) => i),
    time: Float32Array.of(0, 0.1, 0.2, 1, 1.1, 1.2),
  },
  masks: Uint8Array.of(1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1),
  previousActions: Int32Array.of(-1, -1, -1, 0, 1, -1),
  extras: { subgoal: { data: Float32Array.of(0, 1, 2, 3, 4, 5), shape: [2, 3] } },
});

const round = (data: ArrayLike<number>) => Array.from(data, (value) => Math.round(value * 10) / 10);

describe('inputEncoder', () => {
  it('takes one seat’s rows: images as they are, the rest in one vector', () => {
    const encoder = inputEncoder(game);
    expect(encoder.shapes).toEqual({ planes: [1, 2, 2], vector: [1] });
    const { planes, vector } = encoder.encode(source(1));
    expect(planes.shape).toEqual([2, 1, 2, 2]);
    expect([...planes.data]).toEqual([4, 5, 6, 7, 16, 17, 18, 19]);
    expect(planes.data).toBeInstanceOf(Uint8Array);
    expect(round(vector.data)).toEqual([0.1, 1.1]);
  });

  it('adds mask, previous actions (own first), id and extras, in that order', () => {
    const encoder = inputEncoder(game, { mask: true, previousActions: true, agentId: true, extras: { subgoal: 1 } });
    expect(encoder.shapes['vector']).toEqual([1 + 2 + 6 + 3 + 1]);
    const { vector } = encoder.encode(source(1));
    // Step 0: nobody had acted. Step 1: b did 1, c had left, a did 0.
    expect(round(vector.data.slice(0, 13))).toEqual([0.1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
    expect(round(vector.data.slice(13))).toEqual([1.1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 4]);
  });

  it('keeps flat zeros and ones apart from other numbers where a reader asks for it', () => {
    const observation = {
      cards: { shape: [2], dtype: 'int32', kind: 'indices', classes: 3 },
      code: { shape: [2], dtype: 'float32', kind: 'one-hot' },
      bits: { shape: [], dtype: 'uint8', kind: 'planes' },
      time: { shape: [], dtype: 'float32' },
    } as const;
    const cardGame = { name: 'cards', agents: ['a'], actions: 2, observation };
    const encoder = inputEncoder(cardGame, {}, { flags: 'apart' });
    expect(encoder.shapes).toEqual({ cards: [6], code: [2], bits: [1], vector: [1] });
    expect(encoder.kinds).toEqual({
      cards: { kind: 'codes', classes: 3 },
      code: { kind: 'planes' },
      bits: { kind: 'planes' },
      vector: { kind: 'vector' },
    });
    const rows = { rows: 1, seat: 0, offset: 0, stride: 1, extras: {} };
    const [masks, previousActions] = [Uint8Array.of(1, 1), Int32Array.of(-1)];
    const observations = {
      cards: Int32Array.of(2, 0),
      code: Float32Array.of(0, 1),
      bits: Uint8Array.of(1),
      time: Float32Array.of(0.5),
    };
    const encoded = encoder.encode({ ...rows, masks, previousActions, observations });
    expect([...encoded['cards'].data]).toEqual([0, 0, 1, 1, 0, 0]);
    expect([...encoded['code'].data, ...encoded['bits'].data, ...encoded['vector'].data]).toEqual([0, 1, 1, 0.5]);
    expect(inputEncoder(cardGame).shapes).toEqual({ vector: [10] });
  });

  it('refuses a field named vector next to flat fields, which would be read as one', () => {
    const vector = { shape: [1, 2, 2], dtype: 'uint8' } as const;
    const twice = { ...game, observation: { vector, time: game.observation['time'] } };
    expect(() => inputEncoder(twice)).toThrow(/no field named vector next to flat fields/);
    expect(inputEncoder({ ...game, observation: { vector } }).shapes).toEqual({ vector: [1, 2, 2] });
  });

  it('writes into arrays that it is given, from their first row on', () => {
    const encoder = inputEncoder(game, { mask: true });
    const into = encoder.allocate(3);
    expect(Object.entries(into).map(([name, { data, shape }]) => [name, data.constructor.name, shape])).toEqual([
      ['planes', 'Uint8Array', [3, 1, 2, 2]],
      ['vector', 'Float32Array', [3, 3]],
    ]);
    expect(encoder.encode(source(1), into)).toBe(into);
    expect([...into['planes'].data]).toEqual([4, 5, 6, 7, 16, 17, 18, 19, 0, 0, 0, 0]);
    expect(round(into['vector'].data)).toEqual([0.1, 1, 1, 1.1, 1, 0, 0, 0, 0]);
  });

  it('reads only the fields that are asked for', () => {
    expect(inputEncoder(game, { fields: ['time'] }).shapes).toEqual({ vector: [1] });
    expect(inputEncoder(game, { fields: ['planes'] }).shapes).toEqual({ planes: [1, 2, 2] });
  });
});

describe('jointEncoder', () => {
  it('joins all agents’ views, the agent’s own first', () => {
    const encoder = jointEncoder(inputEncoder(game), 3);
    expect(encoder.shapes).toEqual({ planes: [1, 2, 6], vector: [3] });
    const { planes, vector } = encoder.encode(source(1));
    expect(round(vector.data)).toEqual([0.1, 0.2, 0, 1.1, 1.2, 1]);
    // Step 0, first cell: two channels of b, of c, of a.
    expect([...planes.data.slice(0, 6)]).toEqual([4, 5, 8, 9, 0, 1]);
    const into = encoder.allocate(3);
    expect(encoder.encode(source(1), into)).toBe(into);
    expect([...into['planes'].data]).toEqual([...planes.data, ...new Uint8Array(12)]);
    expect([...into['vector'].data]).toEqual([...vector.data, 0, 0, 0]);
  });
});

describe('rows with too few or too many numbers', () => {
  const two = {
    name: 'two',
    agents: ['a', 'b'],
    actions: 3,
    observation: { x: { shape: [1], dtype: 'float32' } },
  } as const;
  const options = { previousActions: true, mask: true, extras: { goal: 2 } };
  const encoder = inputEncoder(two, options);
  const rows = {
    ...{ rows: 2, seat: 0, offset: 0, stride: 1, observations: { x: Float32Array.of(1, 2) } },
    masks: new Uint8Array(6).fill(1),
    previousActions: Int32Array.of(-1, 0, 1, 2),
    extras: { goal: { data: new Float32Array(4), shape: [2, 2] } },
  };

  it('are encoded where they fit', () => {
    expect(encoder.encode(rows)['vector'].shape).toEqual([2, 1 + 3 + 6 + 2]);
  });

  it.each<[name: string, change: Partial<RowSource>, message: RegExp]>([
    [
      'previous actions of one agent',
      { previousActions: Int32Array.of(0, 1) },
      /previousActions: .* 4 numbers .* got 2/,
    ],
    ['an action that the game lacks', { previousActions: Int32Array.of(0, 1, 3, 0) }, /actions below 3, got 3/],
    ['legal actions of one row', { masks: new Uint8Array(3) }, /source.masks: expected 6 numbers \[2, 3\], got 3/],
    [
      'extras of one row',
      { extras: { goal: { data: new Float32Array(2), shape: [1, 2] } } },
      /source.extras.goal: expected 4 numbers \[2, 2\], got 2/,
    ],
    ['no extras', { extras: {} }, /the extra goal/],
  ])('%s are refused by name', (_, change, message) => {
    expect(() => encoder.encode({ ...rows, ...change })).toThrow(message);
  });
});
