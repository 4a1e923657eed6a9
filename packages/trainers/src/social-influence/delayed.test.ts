import { allocateExperience, type Experience } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { delayed } from './delayed';

const spec = {
  agents: ['a', 'b'],
  actions: 3,
  observation: { view: { shape: [1], dtype: 'float32' as const } },
};

/** One environment: the number seen in step t by agent i is 10 (first + t) + i. */
function stream(first: number, isFirst: readonly number[]): Experience {
  const experience = allocateExperience(spec, 1, isFirst.length);
  experience.isFirst.set(isFirst);
  experience.observations['view'].set(isFirst.flatMap((_, t) => [10 * (first + t), 10 * (first + t) + 1]));
  return experience;
}

describe('delayed', () => {
  it('shows what was seen a step earlier, but for first steps, across rollouts too', () => {
    const one = delayed(stream(0, [1, 0, 1]), undefined);
    expect([...one.experience.observations['view']]).toEqual([0, 1, 0, 1, 20, 21]);
    expect([...one.last['view']]).toEqual([20, 21]);
    const two = delayed(stream(3, [0, 0]), one.last);
    expect([...two.experience.observations['view']]).toEqual([20, 21, 30, 31]);
    const anew = delayed(stream(3, [1, 0]), one.last);
    expect([...anew.experience.observations['view']]).toEqual([30, 31, 30, 31]);
  });

  it('hides what is legal, and leaves the rollout itself alone', () => {
    const given = stream(0, [1, 0]);
    const { experience } = delayed(given, undefined);
    expect([...experience.masks]).toEqual(new Array(12).fill(1));
    expect([...given.masks]).toEqual(new Array(12).fill(0));
    expect([...given.observations['view']]).toEqual([0, 1, 10, 11]);
    expect(experience.actions).toBe(given.actions);
  });
});
