import { allocateExperience, type Experience } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import type { MoaLearner, MoaView } from '../moa';
import { influenceOf } from './counterfactuals';

const spec = {
  agents: ['a', 'b', 'c'],
  actions: 2,
  observation: { view: { shape: [1], dtype: 'float32' as const } },
};
const EVEN = [Math.log(0.5), Math.log(0.5)];

/** Two steps of one environment in which everyone plays, may do anything, and saw 100 t + seat. */
function twoSteps(): Experience {
  const experience = allocateExperience(spec, 1, 2);
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
