import type { Experience } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { describe, expect, it } from 'vitest';
import type { MoaLearner, MoaView } from '../moa';
import { actionInfluence, delayed, influenceOf } from './algorithm';

const pair = {
  agents: ['a', 'b'],
  actions: 3,
  observation: { view: { shape: [1], dtype: 'float32' as const } },
};

/** One environment: the number seen in step t by agent i is 10 (first + t) + i. */
function stream(first: number, isFirst: readonly number[]): Experience {
  const experience = allocateExperience(pair, 1, isFirst.length);
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

describe('actionInfluence', () => {
  it('is the divergence from the prediction averaged over the own policy', () => {
    // Two actions with chances 1/4 and 3/4; after the first the other does 0 for sure, after the second either.
    const predictions = Float64Array.of(1, 0, 0.5, 0.5);
    const policy = Float64Array.of(0.25, 0.75);
    // Averaged over the own policy: (0.25 + 0.375, 0.375) = (5/8, 3/8).
    const first = Math.log(1 / (5 / 8));
    const second = 0.5 * Math.log(0.5 / (5 / 8)) + 0.5 * Math.log(0.5 / (3 / 8));
    expect(actionInfluence(predictions, policy, Int32Array.of(0))[0]).toBeCloseTo(first, 12);
    expect(actionInfluence(predictions, policy, Int32Array.of(1))[0]).toBeCloseTo(second, 12);
  });

  it('averages to the mutual information of the two actions', () => {
    const predictions = Float64Array.of(0.9, 0.1, 0.2, 0.8);
    const policy = [0.3, 0.7];
    const both = actionInfluence(
      Float64Array.of(...predictions, ...predictions),
      Float64Array.of(...policy, ...policy),
      Int32Array.of(0, 1),
    );
    const entropy = (...chances: number[]) => -chances.reduce((sum, p) => sum + p * Math.log(p), 0);
    const next = [0.3 * 0.9 + 0.7 * 0.2, 0.3 * 0.1 + 0.7 * 0.8];
    const information = entropy(...next) - 0.3 * entropy(0.9, 0.1) - 0.7 * entropy(0.2, 0.8);
    expect(policy[0] * both[0] + policy[1] * both[1]).toBeCloseTo(information, 12);
  });

  it('is 0 where nothing depends on the action, or no other action was to be expected', () => {
    const same = Float64Array.of(0.3, 0.7, 0.3, 0.7);
    expect(actionInfluence(same, Float64Array.of(0.5, 0.5), Int32Array.of(1))[0]).toBeCloseTo(0, 12);
    const different = Float64Array.of(1, 0, 0, 1);
    expect(actionInfluence(different, Float64Array.of(1, 0), Int32Array.of(0))[0]).toBe(0);
  });

  it('does not read lines of actions that are never taken', () => {
    const predictions = Float64Array.of(0.5, 0.5, Number.NaN, Number.NaN);
    expect(actionInfluence(predictions, Float64Array.of(1, 0), Int32Array.of(0))[0]).toBe(0);
  });

  it('refuses arrays that do not fit', () => {
    expect(() => actionInfluence(new Float64Array(4), new Float64Array(3), Int32Array.of(0))).toThrow(/4 predictions/);
  });
});

const trio = {
  agents: ['a', 'b', 'c'],
  actions: 2,
  observation: { view: { shape: [1], dtype: 'float32' as const } },
};
const EVEN = [Math.log(0.5), Math.log(0.5)];

/** Two steps of one environment in which everyone plays, may do anything, and saw 100 t + seat. */
function twoSteps(): Experience {
  const experience = allocateExperience(trio, 1, 2);
  experience.active.fill(1);
  experience.masks.fill(1);
  experience.actions.set([0, 1, 1, 1, 0, 1]);
  experience.observations['view'].set([0, 1, 2, 100, 101, 102]);
  return experience;
}

/** Models whose predictions are a function of what they are asked; the views are kept. */
function models(predict: (coPlayer: string, previous: readonly number[], seen: number) => readonly number[]) {
  const asked: { coPlayer: string; view: MoaView }[] = [];
  const moa = {
    coPlayers: ['b', 'c'],
    predict: async (coPlayer: string, view: MoaView) => {
      asked.push({ coPlayer, view });
      const rows = Array.from({ length: view.rows }, (_, row) => {
        const previous = [...view.previousActions!.subarray(row * 3, row * 3 + 3)];
        return predict(coPlayer, previous, view.observations['view'][row]);
      });
      return Float32Array.from(rows.flat());
    },
  };
  return { moa: moa as unknown as MoaLearner, asked };
}

const evenPolicy = () => Float32Array.from(Array.from({ length: 6 }, () => EVEN).flat());
const NEARLY = 1e-9;
const repeats = (action: number) => (action === 0 ? [0, Math.log(NEARLY)] : [Math.log(NEARLY), 0]);

describe('influenceOf', () => {
  it('sums over co-players what the action changed, all else as it was', async () => {
    // b repeats what the agent does, c does as it likes: ln 2 where both actions had the chance 1/2.
    const { moa, asked } = models((coPlayer, previous) => (coPlayer === 'b' ? repeats(previous[0]) : EVEN));
    const found = await influenceOf(moa, twoSteps(), 0, evenPolicy());
    for (const value of found) expect(value).toBeCloseTo(Math.LN2, 5);
    const [{ view }] = asked;
    // Only its own actions differ.
    expect([...view.previousActions!.subarray(0, 12)]).toEqual([0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1]);
    expect([...view.observations['view'].subarray(0, 4)]).toEqual([1, 1, 101, 101]); // as b saw it
    expect(view.masks.every((flag) => flag === 1)).toBe(true);
  });

  it('counts only agents that go on playing', async () => {
    const { moa } = models((_, previous) => repeats(previous[0]));
    const gone = twoSteps();
    gone.terminated[0 * 3 + 1] = 1; // b leaves with the first step
    gone.active[1 * 3 + 1] = 0;
    gone.ended[1] = 1; // the second one is the last
    const found = await influenceOf(moa, gone, 0, evenPolicy());
    expect(found[0]).toBeCloseTo(Math.LN2, 5); // c alone
    expect(found[1]).toBe(0);
    const absent = twoSteps();
    absent.active[0] = 0;
    expect((await influenceOf(moa, absent, 0, evenPolicy()))[0]).toBe(0);
  });

  it('compares with what it might have done: nothing that is illegal', async () => {
    const { moa } = models((_, previous) => repeats(previous[0]));
    const forced = twoSteps();
    forced.masks.set([1, 0], 0); // the agent has no choice in the first step
    const policy = evenPolicy();
    policy.set([0, -1e9]); // as policies give it where one action is legal
    const found = await influenceOf(moa, forced, 0, policy);
    expect(found[0]).toBe(0);
    expect(found[1]).toBeCloseTo(2 * Math.LN2, 5);
  });

  it('says nothing of what those who had left did', async () => {
    const { moa, asked } = models(() => EVEN);
    const left = twoSteps();
    left.active[2] = 0;
    await influenceOf(moa, left, 0, evenPolicy());
    expect(asked[0].view.previousActions![2]).toBe(-1);
  });
});
