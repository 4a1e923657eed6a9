import { assertGame, type Game, gameContract } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { countingGame } from './counting-game';

const game = countingGame({ agents: 3, leaves: [4, 0, 2], maxSteps: 6 });

type Part = Partial<Game<'int32'>>;

/**
 * Games that keep an array outside their state: what writes it and what reads it, the game, and where the fault shows.
 */
const HIDDEN: readonly [string, () => Part, string][] = [
  [
    'written by step, read by observe',
    () => {
      const last = new Float32Array(3);
      return {
        step(state, offset, actions, from, generator, result, row) {
          game.step(state, offset, actions, from, generator, result, row);
          for (let i = 0; i < 3; i++) last[i] = actions[from + i];
        },
        observe(state, offset, agent, out, row) {
          game.observe(state, offset, agent, out, row);
          if (state[offset] > 0) out['noise'][row] = last[agent];
        },
      };
    },
    'observe',
  ],
  [
    'written by step, read by the next step',
    () => {
      const before = new Float32Array(1);
      return {
        step(state, offset, actions, from, generator, result, row) {
          game.step(state, offset, actions, from, generator, result, row);
          if (state[offset] > 1) result.rewards[row * 3 + 1] += before[0];
          before[0] = state[offset + 1];
        },
      };
    },
    'step',
  ],
  [
    'written by the first step of an episode, read by the later ones',
    () => {
      const target = new Float32Array(1);
      return {
        step(state, offset, actions, from, generator, result, row) {
          if (state[offset] === 0) target[0] = state[offset + 1];
          game.step(state, offset, actions, from, generator, result, row);
          result.rewards[row * 3 + 1] += target[0];
        },
      };
    },
    'step',
  ],
  [
    'written by observe, read by step',
    () => {
      const seen = new Float32Array(3);
      return {
        observe(state, offset, agent, out, row) {
          game.observe(state, offset, agent, out, row);
          seen[agent] = state[offset + 1];
        },
        step(state, offset, actions, from, generator, result, row) {
          game.step(state, offset, actions, from, generator, result, row);
          result.rewards[row * 3 + 1] += seen[1];
        },
      };
    },
    'step',
  ],
  [
    'written by observe of the first agent, read by observe of the next',
    () => {
      const shared = new Float32Array(1);
      return {
        observe(state, offset, agent, out, row) {
          game.observe(state, offset, agent, out, row);
          if (agent === 0) shared[0] = state[offset + 1];
          out['noise'][row] = shared[0];
        },
      };
    },
    'observe',
  ],
  [
    'written by legal, read by step',
    () => {
      const allowed = new Uint8Array(1);
      return {
        legal(state, offset, agent, mask, at) {
          game.legal(state, offset, agent, mask, at);
          allowed[0] = state[offset + 1] % 200;
        },
        step(state, offset, actions, from, generator, result, row) {
          game.step(state, offset, actions, from, generator, result, row);
          result.infos['illegal'][row * 3 + 1] = allowed[0];
        },
      };
    },
    'step',
  ],
  [
    'written by step, read by legal',
    () => {
      const forbidden = new Uint8Array(1);
      return {
        step(state, offset, actions, from, generator, result, row) {
          game.step(state, offset, actions, from, generator, result, row);
          forbidden[0] = state[offset + 1] % 3;
        },
        legal(state, offset, agent, mask, at) {
          game.legal(state, offset, agent, mask, at);
          if (agent !== 1 || state[offset] === 0) return;
          for (let k = 0; k < 3; k++) mask[at + k] = k === forbidden[0] ? 0 : 1;
        },
      };
    },
    'legal',
  ],
  [
    'written by isActive, read by observe',
    () => {
      const looked = new Int32Array(1);
      return {
        isActive(state, offset, agent) {
          if (agent === 2) looked[0] = state[offset + 1];
          return game.isActive(state, offset, agent);
        },
        observe(state, offset, agent, out, row) {
          game.observe(state, offset, agent, out, row);
          if (agent === 2) out['noise'][row] = looked[0];
        },
      };
    },
    'observe',
  ],
  [
    'written by observe, drawn by scene',
    () => {
      const drawn = new Int32Array(1);
      return {
        observe(state, offset, agent, out, row) {
          game.observe(state, offset, agent, out, row);
          drawn[0] = state[offset + 1] % 10;
        },
        reset(state, offset, generator) {
          game.reset(state, offset, generator);
          drawn[0] = state[offset + 1] % 10;
        },
        scene: () => ({ rows: 1, columns: 10, items: [{ kind: 'mark', symbol: 'x', row: 0, column: drawn[0] }] }),
      };
    },
    'scene',
  ],
  [
    'written by readLayout, read by observe',
    () => {
      const map = new Int32Array(1);
      return {
        reset(state, offset, generator) {
          game.reset(state, offset, generator);
          state[offset + 2] = 0;
        },
        readLayout(layout, state, offset) {
          game.readLayout?.(layout, state, offset);
          map[0] = state[offset + 1];
          state[offset + 1] = -1;
        },
        writeLayout: (state, offset) => String(state[offset + 1] < 0 ? map[0] : state[offset + 1]),
        observe(state, offset, agent, out, row) {
          game.observe(state, offset, agent, out, row);
          if (state[offset + 1] < 0) out['noise'][row] = map[0];
        },
      };
    },
    'readLayout',
  ],
];

describe('a game that keeps an array outside its state', () => {
  it.each(HIDDEN)('is found: %s', (_, part, place) => {
    const hidden: Game<'int32'> = { ...game, ...part() };
    const found = gameContract(hidden, { allocation: false });
    expect(found.map(({ rule, where }) => `${rule} ${where}`)).toContain(`hidden-state counting.${place}`);
    expect(() => assertGame(hidden)).toThrow(/counting\./);
  });

  it('is sound if each function writes the array before it reads it', () => {
    const work = new Float32Array(3);
    const sound: Game<'int32'> = {
      ...game,
      observe(state, offset, agent, out, row) {
        work.fill(state[offset + 1]);
        game.observe(state, offset, agent, out, row);
        out['noise'][row] = work[agent];
      },
    };
    expect(gameContract(sound, { allocation: false })).toEqual([]);
  });
});

describe('what makes a game slow', () => {
  /** Hands its numbers to `length`, and counts the result for nothing. */
  const measuring = (length: (x: number, y: number) => number): Game<'int32'> => ({
    ...game,
    step(...args) {
      game.step(...args);
      const [state, offset, , , , { rewards }, row] = args;
      rewards[row * 3 + 1] += length(state[offset + 1] + 0.5, state[offset] + 0.25);
    },
  });

  it('is a warning, with which assertGame passes', () => {
    const slow = measuring((x, y) => [x, y, x].map((value) => value * value).reduce((a, b) => a + b));
    expect(gameContract(slow)).toContainEqual(
      expect.objectContaining({ rule: 'allocation', severity: 'warning', where: 'counting.step' }),
    );
    expect(gameContract(slow, { allocation: false })).toEqual([]);
    expect(() => assertGame(slow)).not.toThrow();
  });

  it('finds an error that comes only after many calls', () => {
    let [last, calls] = [-1, 0];
    const tired: Game<'int32'> = {
      ...game,
      legal(state, offset, agent, mask, at) {
        calls = state[offset] === last ? calls + 1 : 0;
        last = state[offset];
        if (calls > 150) throw new Error('tired'); // one look at the heap makes 200 calls in one state
        game.legal(state, offset, agent, mask, at);
      },
    };
    const found = gameContract(tired, { episodes: 1 }).filter(({ rule }) => rule === 'exception');
    expect(found).toMatchObject([{ severity: 'error', where: 'counting.legal', got: expect.stringMatching(/tired/) }]);
  });

  it('does not fail a game for Math.hypot', () => {
    const found = gameContract(measuring(Math.hypot));
    expect(found.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(() => assertGame(measuring(Math.hypot))).not.toThrow();
  });

  it('leaves broken rules errors, and assertGame counts those alone', () => {
    const wrong = { ...measuring((x, y) => [x, y].map(Math.sqrt).length), elapsed: () => 7 };
    const found = gameContract(wrong);
    const severities = Object.fromEntries(found.map(({ rule, severity }) => [rule, severity]));
    expect(severities).toEqual({ elapsed: 'error', layout: 'error', allocation: 'warning' });
    expect(() => assertGame(wrong)).toThrow(/rule: elapsed.*lists 1 more/);
  });
});
