import type { Experience } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { goalTracker } from '@coplay/diagnostics';
import { matrixGame, stagHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

const game = stagHunt({ size: 4, agents: 3, stags: 1, hares: 2, maxSteps: 9 });
const A = 3;
const [STAG, HARE] = [5, 6];

/**
 * Experience of one environment, a character for each agent and step: `s`, `h` leaves with a stag or hare, `S` hunts a
 * stag in vain, `.` anything else, `-` has left, and `|` behind the last step of an episode.
 */
function lived(...steps: string[]): Experience {
  const experience = allocateExperience(game, 1, steps.length);
  steps.forEach((text, t) => {
    experience.ended[t] = text.endsWith('|') ? 1 : 0;
    for (let agent = 0; agent < A; agent++) {
      const row = t * A + agent;
      const what = text[agent];
      experience.active[row] = what === '-' ? 0 : 1;
      experience.actions[row] = what === 's' || what === 'S' ? STAG : what === 'h' ? HARE : 4;
      experience.terminated[row] = 'sh-'.includes(what) ? 1 : 0;
    }
  });
  return experience;
}

describe('goalTracker', () => {
  it('counts goals, who reached them together, when, and in which order', () => {
    const tracker = goalTracker({ game, envs: 1 });
    // Two at the stag in step 2, and a hare later. Then: a hare in step 1, another in step 2, no stag.
    expect(tracker.add(lived('S..', 'ss.', '--.', '--h|', 'h..', '-Sh', '-..|'))).toEqual({
      'goals/stag/missed': 0.5,
      'goals/stag/reached': 1,
      'goals/stag/step': 2,
      'goals/stag/by_2': 1,
      'goals/hare/missed': 0,
      'goals/hare/reached': 1.5,
      'goals/hare/step': 2.5, // 4 and 1
      'goals/hare/by_1': 1,
      'goals/hare/after_stag': 1, // of one episode with a stag
      'goals/stag/after_hare': 0,
    });
  });

  it('reaching two goals in one step is no order', () => {
    const metrics = goalTracker({ game, envs: 1 }).add(lived('ssh|', 'sss|'));
    expect(metrics['goals/hare/after_stag']).toBe(0);
    expect(metrics['goals/stag/after_hare']).toBe(0);
    expect([metrics['goals/stag/by_2'], metrics['goals/stag/by_3']]).toEqual([0.5, 0.5]);
  });

  it('follows episodes from one rollout to the next', () => {
    const tracker = goalTracker({ game, envs: 1 });
    expect(tracker.add(lived('...', 'ss.'))).toEqual({});
    const metrics = tracker.add(lived('--.', '--h|'));
    expect(metrics['goals/stag/step']).toBe(2);
    expect(metrics['goals/hare/step']).toBe(4);
    expect(metrics['goals/hare/after_stag']).toBe(1);
  });

  it('counts the first episodes of each environment only, if it is asked to', () => {
    const tracker = goalTracker({ game, envs: 1, perEnv: 1 });
    expect(tracker.add(lived('ss.', '--.|', '...|'))['goals/stag/missed']).toBe(0);
    expect(tracker.add(lived('...|'))).toEqual({});
  });

  it('refuses games without goals, goals that read states, and other environments', () => {
    expect(() => goalTracker({ game: matrixGame(), envs: 1 })).toThrow(/goalTracker: expected a game with goals/);
    const goals = { ...game.goals!, readsStates: true };
    expect(() => goalTracker({ game: { ...game, goals }, envs: 1 })).toThrow(/whose goals have readsStates/);
    expect(() => goalTracker({ game, envs: 2 }).add(lived('...|'))).toThrow(/experience.envs: expected 2, got 1/);
  });
});
