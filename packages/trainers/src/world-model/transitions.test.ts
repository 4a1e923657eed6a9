import type { Experience } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { hasWholePast } from './transitions';

describe('hasWholePast', () => {
  it('needs L steps before a step, or the beginning of its episode, in the experience', () => {
    // Two environments of five steps; in the second an episode begins with its second step.
    const experience = { steps: 5, isFirst: Uint8Array.of(0, 0, 0, 0, 0, 0, 1, 0, 0, 0) } as unknown as Experience;
    const whole = (history: number) => Array.from({ length: 10 }, (_, step) => hasWholePast(experience, step, history));
    expect(whole(0).every(Boolean)).toBe(true);
    expect(whole(3).map(Number)).toEqual([0, 0, 0, 1, 1, 0, 1, 1, 1, 1]);
    expect(whole(8).map(Number)).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
  });
});
