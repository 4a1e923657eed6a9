import { createPpoBuffer } from '@coplay/buffers';
import { createGenerator, ndarray } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { planEpoch } from './minibatches';

function filled(real: number, imagined: number) {
  const buffer = createPpoBuffer({ agents: ['agent_0'] });
  const count = real + imagined;
  buffer.push('agent_0', {
    place: ndarray(Int32Array.from({ length: count }, (_, i) => i)),
    isImagined: ndarray(Uint8Array.from({ length: count }, (_, i) => (i < real ? 0 : 1))),
  });
  return buffer;
}

describe('planEpoch', () => {
  const settings = { minibatchSize: 256, normaliseAdvantages: 'minibatch', stepsPerRow: 1 } as const;

  // Where real rows are rare, minibatches are larger than asked for, so that each has one.
  it.each([
    [413, 600],
    [256, 1],
    [1, 900],
    [767, 3000],
  ])('has each row that takes part once, at every ratio of kinds (%i real, %i imagined)', (real, imagined) => {
    for (const realRatio of [0, 0.5, 1]) {
      const plan = planEpoch(filled(real, imagined), { ...settings, realRatio }, createGenerator(1));
      const rooms = new Set(plan.map(({ places }) => places.length));
      expect(rooms.size).toBe(1); // one shape, one graph
      const rows = plan.reduce((sum, { count }) => sum + count, 0);
      const expected = realRatio === 0 ? imagined : realRatio === 1 ? real : real + imagined;
      expect(rows).toBe(expected);
    }
  });
});
