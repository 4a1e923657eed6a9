import { createGenerator, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import type { MoaLearner } from '../moa';
import { modelledCoPlayer } from './co-players';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 2 });

/** As far as drawing goals needs one: this co-player has shown stags nine times as often as hares. */
const moa = {
  goals: 2,
  prior: () => Float64Array.of(0.9, 0.1),
  agent: () => ({ initialState: () => ({ goals: new Int32Array(0), memory: new Float32Array(0) }) }),
} as unknown as MoaLearner;

/** Starts in which the stag is gone in every fourth row. */
function starts(rows: number) {
  const env = vectorEnv(game, { envs: rows, seed: 1 });
  for (let row = 0; row < rows; row += 4) env.reset({ envs: [row], layout: '1.2\n...\n.h.' });
  const states = env.states.slice();
  return {
    real: states,
    isFirst: new Uint8Array(rows),
  };
}

function drawn(chance: number | undefined, model = moa): Int32Array {
  const { state } = modelledCoPlayer(model, 'agent_1', game, starts(4000), chance, createGenerator(1));
  return (state as { goals: Int32Array }).goals;
}

const shareOfStags = (goals: Int32Array) => {
  const open = goals.filter((_, row) => row % 4 !== 0); // 3,000 rows in which both kinds are left
  return open.filter((goal) => goal === 0).length / open.length;
};

describe('modelledCoPlayer', () => {
  it('draws goals by the prior, uniformly, or by a mixture', () => {
    // Standard deviations are below 0.01.
    expect(Math.abs(shareOfStags(drawn(0)) - 0.9)).toBeLessThan(0.04);
    expect(Math.abs(shareOfStags(drawn(1)) - 0.5)).toBeLessThan(0.04);
    expect(Math.abs(shareOfStags(drawn(0.5)) - 0.7)).toBeLessThan(0.04);
  });

  it('never draws a goal that cannot be reached any more', () => {
    for (const chance of [0, 0.5, 1]) {
      const closed = drawn(chance).filter((_, row) => row % 4 === 0);
      expect(new Set(closed)).toEqual(new Set([1]));
    }
  });

  it('leaves goals unknown where asked, and to models without goals', () => {
    expect(new Set(drawn(undefined))).toEqual(new Set([-1]));
    expect(new Set(drawn(1, { ...moa, goals: 0 }))).toEqual(new Set([-1]));
  });
});
