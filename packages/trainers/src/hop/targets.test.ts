import { allocateCuts, allocateExperience, type Experience, type ObservationSpec } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { episodeReturns, finalTargets, valueTargets } from './targets';

const observation: ObservationSpec = { seen: { shape: [1], dtype: 'float32' } };
const game = { agents: ['a', 'b'], observation, actions: 2 };

/**
 * One episode of four steps. Agent a earns 1, then 4 in its last step, the third. Agent b earns 2 in the second step
 * and is cut by the time limit after the fourth.
 */
function episode(): Experience {
  const x = allocateExperience(game, 1, 4);
  x.rewards.set([1, 0, 0, 2, 4, 0, 0, 0]);
  x.active.set([1, 1, 1, 1, 1, 1, 0, 1]);
  x.terminated.set([0, 0, 0, 0, 1, 0, 1, 0]);
  x.truncated.set([0, 0, 0, 0, 0, 0, 0, 1]);
  x.isFirst[0] = 1;
  x.ended[3] = 1;
  const cuts = allocateCuts(game, 1);
  cuts.step[0] = 3;
  return { ...x, cuts };
}

const parts = { searchValues: Float32Array.of(9, 1, 8, 2, 7, 3, 9, 6), cutValues: Float32Array.of(99, 8) };
const options = { gamma: 0.5, valueTarget: 'return', steps: 2, truncation: 'bootstrap' } as const;

describe('valueTargets', () => {
  it('is the discounted return, with the value of what a time limit cut off', () => {
    // a: 1 + 4/4, 4/2, 4. b: 0.5 * 2 + 8/16, 2 + 8/8, 8/4, 8/2.
    expect([...valueTargets(episode(), parts, options)]).toEqual([2, 1.5, 2, 3, 4, 2, 0, 4]);
    const terminal = { ...options, truncation: 'terminal' } as const;
    expect([...valueTargets(episode(), parts, terminal)]).toEqual([2, 1, 2, 2, 4, 0, 0, 0]);
  });

  it('is the whole reward, discounted from the last step of each agent', () => {
    const final = { ...options, valueTarget: 'final' } as const;
    // a: 5 from its third step back; b: 2 from its fourth.
    expect([...valueTargets(episode(), parts, final)]).toEqual([1.25, 0.25, 2.5, 0.5, 5, 1, 0, 2]);
  });

  it('is n rewards and the value that the search found n steps later', () => {
    const two = { ...options, valueTarget: 'n-step' } as const;
    // a: 1 + 0 + 7/4, 0 + 4/2, 4. b: 0 + 2/2 + 3/4, 2 + 0 + 6/4, 0 + 0 + 8/4, 8/2.
    expect([...valueTargets(episode(), parts, two)]).toEqual([2.75, 1.75, 2, 3.5, 4, 2, 0, 4]);
    const many = { ...options, valueTarget: 'n-step', steps: 10 } as const;
    expect([...valueTargets(episode(), parts, many)]).toEqual([2, 1.5, 2, 3, 4, 2, 0, 4]); // the return
  });

  it('reads nothing where an agent does not play', () => {
    const changed = episode();
    changed.rewards[6] = Number.NaN;
    for (const valueTarget of ['return', 'final', 'n-step'] as const) {
      const nothing = { searchValues: parts.searchValues.with(6, Number.NaN), cutValues: parts.cutValues };
      expect(valueTargets(changed, nothing, { ...options, valueTarget })).toEqual(
        valueTargets(episode(), parts, { ...options, valueTarget }),
      );
    }
  });
});

describe('finalTargets', () => {
  it('takes any outcome of each agent, such as a rank', () => {
    expect([...episodeReturns(episode())]).toEqual([5, 2]);
    expect([...finalTargets(episode(), [1, -1], 0.5)]).toEqual([0.25, -0.125, 0.5, -0.25, 1, -0.5, 0, -1]);
  });
});
