import { describe, expect, it } from 'vitest';
import { createGenerator } from './generator';
import { createRewardScaler } from './reward-scaler';

/** E x T x A random rewards with ends and absences; `from`..`to` cuts steps out of it. */
function stream(envs: number, steps: number, agents: number, seed: number) {
  const generator = createGenerator(seed);
  const rewards = Float32Array.from({ length: envs * steps * agents }, () => generator.normal());
  const active = Uint8Array.from(rewards, () => (generator.uniform() < 0.8 ? 1 : 0));
  const ended = Uint8Array.from({ length: envs * steps }, () => (generator.uniform() < 0.3 ? 1 : 0));
  const names = Array.from({ length: agents }, (_, i) => `agent_${i}`);
  return (from: number, to: number) => {
    const cut = <T extends Float32Array | Uint8Array>(array: T, width: number) => {
      const parts = Array.from({ length: envs }, (_, e) => [
        ...array.subarray((e * steps + from) * width, (e * steps + to) * width),
      ]);
      return (array.constructor as unknown as { from(values: number[]): T }).from(parts.flat());
    };
    const arrays = { rewards: cut(rewards, agents), active: cut(active, agents), ended: cut(ended, 1) };
    return { envs, steps: to - from, agents: names, ...arrays };
  };
}

describe('createRewardScaler', () => {
  it('divides by the running deviation of the discounted return', () => {
    // R = 1, 0.5 x 1 + 2 = 2.5, then anew: 3. Var(1) = 0: as it is; Var(1, 2.5) = 0.5625; Var(1, 2.5, 3) = 0.7222...
    const scaler = createRewardScaler({ envs: 1, agents: 1, gamma: 0.5, epsilon: 1e-12 });
    const all = { active: new Uint8Array(3).fill(1), ended: Uint8Array.of(0, 1, 0) };
    const scaled = scaler.scale({ envs: 1, steps: 3, agents: ['a'], rewards: Float32Array.of(1, 2, 3), ...all });
    const mean = 6.5 / 3;
    const variance = ((1 - mean) ** 2 + (2.5 - mean) ** 2 + (3 - mean) ** 2) / 3;
    [1, 2 / 0.75, 3 / Math.sqrt(variance)].forEach((value, i) => void expect(scaled[i]).toBeCloseTo(value, 5));
  });

  it('gives the same however the stream is cut, and after save and restore', () => {
    const cut = stream(2, 9, 3, 1);
    const options = { envs: 2, agents: 3, gamma: 0.9 };
    const whole = createRewardScaler(options).scale(cut(0, 9));
    const first = createRewardScaler(options);
    const head = first.scale(cut(0, 4));
    const second = createRewardScaler(options);
    second.restore(structuredClone(first.state()));
    const tail = second.scale(cut(4, 9));
    for (let e = 0; e < 2; e++) {
      expect(head.subarray(e * 12, e * 12 + 12)).toEqual(whole.subarray(e * 27, e * 27 + 12));
      expect(tail.subarray(e * 15, e * 15 + 15)).toEqual(whole.subarray(e * 27 + 12, e * 27 + 27));
    }
  });

  it('keeps agents apart and does not look at absent ones', () => {
    const one = stream(2, 6, 2, 5)(0, 6);
    const other = { ...one, rewards: one.rewards.map((r, i) => (i % 2 === 1 || one.active[i] === 0 ? Number.NaN : r)) };
    other.active = one.active.map((a, i) => (i % 2 === 1 ? 0 : a));
    const options = { envs: 2, agents: 2, gamma: 0.9 };
    const expected = createRewardScaler(options).scale(one);
    const scaled = createRewardScaler(options).scale(other);
    scaled.forEach((value, i) => void expect(value).toBe(i % 2 === 1 ? 0 : expected[i]));
  });

  it('clips, and refuses experience of another size', () => {
    const cut = stream(1, 50, 1, 2);
    const scaled = createRewardScaler({ envs: 1, agents: 1, gamma: 0.9, clip: 0.5 }).scale(cut(0, 50));
    expect(Math.max(...scaled.map(Math.abs))).toBe(0.5);
    expect(() => createRewardScaler({ envs: 2, agents: 1, gamma: 0.9 }).scale(cut(0, 2))).toThrow(
      /rewardScaler.scale: expected 2 environments x 1 agents, got 1 x 1/,
    );
  });
});
