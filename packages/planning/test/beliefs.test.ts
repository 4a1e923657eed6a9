import {
  blendPrior,
  countMemory,
  discountCounts,
  goalCounts,
  goalLikelihoods,
  goalMemory,
  goalsPerEpisode,
  priorOfCounts,
  updateBeliefs,
} from '@coplay/planning';
import { describe, expect, it } from 'vitest';

const all = (length: number) => new Uint8Array(length).fill(1);

describe('within an episode', () => {
  it("follows Bayes' rule, row by row", () => {
    const beliefs = Float64Array.of(0.5, 0.5, 0.2, 0.8);
    const updated = updateBeliefs(beliefs, Float64Array.of(0.6, 0.2, 0.5, 0.25), all(4), 2);
    // 0.3 : 0.1, and 0.1 : 0.2
    [0.75, 0.25, 1 / 3, 2 / 3].forEach((expected, i) => {
      expect(updated[i]).toBeCloseTo(expected, 12);
    });
    expect(Array.from(beliefs)).toEqual([0.5, 0.5, 0.2, 0.8]);
  });

  it('after m like actions the odds are the prior odds times the likelihood ratio to the power of m', () => {
    const beliefs = Float64Array.of(0.3, 0.7);
    for (let m = 1; m <= 20; m++) {
      updateBeliefs(beliefs, Float64Array.of(0.5, 0.4), all(2), 2, beliefs);
      expect(beliefs[0] / beliefs[1]).toBeCloseTo((0.3 / 0.7) * 1.25 ** m, 8);
    }
  });

  it('gives 0 to a goal that is gone, and what is left to the others in proportion', () => {
    const updated = updateBeliefs(
      Float64Array.of(0.5, 0.3, 0.2),
      new Float64Array(3).fill(1),
      Uint8Array.of(0, 1, 1),
      3,
    );
    [0, 0.6, 0.4].forEach((expected, i) => {
      expect(updated[i]).toBeCloseTo(expected, 12);
    });
  });

  it('falls back on the uniform distribution over the goals that still exist; on zeros where none does', () => {
    const certain = Float64Array.of(1, 0, 0);
    const fallback = (open: number[], likelihoods: number[]) =>
      Array.from(updateBeliefs(certain, Float64Array.from(likelihoods), Uint8Array.from(open), 3));
    expect(fallback([0, 1, 1], [1, 1, 1])).toEqual([0, 0.5, 0.5]);
    expect(fallback([1, 1, 0], [0, 0.5, 0.5])).toEqual([0.5, 0.5, 0]);
    expect(fallback([0, 0, 0], [1, 1, 1])).toEqual([0, 0, 0]);
  });

  it('keeps its digits where likelihoods are tiny', () => {
    const updated = updateBeliefs(Float64Array.of(0.5, 0.5), Float64Array.of(3e-320, 1e-320), all(2), 2);
    expect(updated[0]).toBeCloseTo(0.75, 2);
    expect(updated[0] + updated[1]).toBeCloseTo(1, 12);
  });

  it('reads likelihoods from log-probabilities under each goal', () => {
    const p = [0.1, 0.9, 0.8, 0.2, 0.5, 0.5, 0.3, 0.7]; // two rows, two goals, two actions
    const found = goalLikelihoods(Float32Array.from(p, Math.log), Int32Array.of(1, -1), 2);
    [0.9, 0.2, 1, 1].forEach((expected, i) => {
      expect(found[i]).toBeCloseTo(expected, 6);
    });
  });

  it('refuses arrays that do not fit', () => {
    expect(() => updateBeliefs(new Float64Array(3), new Float64Array(3), all(3), 2)).toThrow(/beliefs \[B, 2\], got 3/);
    expect(() => updateBeliefs(new Float64Array(4), new Float64Array(2), all(4), 2)).toThrow(
      /likelihoods of 4 numbers/,
    );
    expect(() => goalLikelihoods(new Float32Array(5), Int32Array.of(1), 2)).toThrow(/\[1, 2, K\]/);
  });
});

describe('between episodes', () => {
  it('after m like episodes the prior is 1 - (1 - p0) alpha^m', () => {
    const prior = Float64Array.of(0.2, 0.8, 0.9, 0.1);
    for (let m = 1; m <= 50; m++) {
      blendPrior(prior, Int32Array.of(0, -1), 0.9);
      expect(prior[0]).toBeCloseTo(1 - 0.8 * 0.9 ** m, 12);
      expect(prior[0] + prior[1]).toBeCloseTo(1, 12);
    }
    expect(Array.from(prior.subarray(2))).toEqual([0.9, 0.1]); // shown nothing, changed nothing
  });

  it('counts: S = d^m + (1 - d^m) / (1 - d), H = d^m after m stag episodes', () => {
    const d = 0.995;
    const counts = new Float64Array(2).fill(1);
    for (let m = 1; m <= 200; m++) {
      discountCounts(counts, Int32Array.of(0), d);
      expect(counts[0]).toBeCloseTo(d ** m + (1 - d ** m) / (1 - d), 9);
      expect(counts[1]).toBeCloseTo(d ** m, 12);
    }
    expect(priorOfCounts(counts, 2)[0]).toBeCloseTo(counts[0] / (counts[0] + counts[1]), 12);
    discountCounts(counts, Int32Array.of(-1), d);
    expect(counts[1]).toBeCloseTo(d ** 200, 12);
  });

  it('follows a co-player that changes within the memory of the discount', () => {
    const memory = goalMemory(2, 0.9); // a memory of 10 episodes
    for (let i = 0; i < 100; i++) memory.add(0, 1);
    const stag = () => memory.prior(0, all(2), 0)[0];
    expect(stag()).toBeGreaterThan(0.99);
    for (let i = 0; i < 10; i++) memory.add(1, 1);
    // Counts begin at 10 and 0 and go to 10 d^10 and 10 (1 - d^10).
    expect(stag()).toBeCloseTo(0.9 ** 10, 3);
  });

  it('counts begin equal, and are saved and restored', () => {
    const counts = goalCounts(3, 0.5);
    expect(Array.from(counts.prior())).toEqual([1 / 3, 1 / 3, 1 / 3]);
    counts.add(2);
    const other = goalCounts(3, 0.5);
    other.restore(counts.state());
    expect(Array.from(other.counts)).toEqual([0.5, 0.5, 1.5]);
    expect(goalCounts(0, 0.5).prior().length).toBe(0);
  });

  it('a goal that is not open has no prior', () => {
    const memory = goalMemory(2, 0.9);
    memory.add(0, 1);
    expect(Array.from(memory.prior(0, Uint8Array.of(9, 0, 1), 1))).toEqual([0, 1]);
    expect(Array.from(memory.prior(0, Uint8Array.of(0, 0), 0))).toEqual([0, 0]);
  });
});

describe('counts of drifts', () => {
  it('begin as Poisson(1), cut off and made to sum to 1', () => {
    const { probabilities } = goalsPerEpisode(3);
    const sum = 1 + 1 + 1 / 2 + 1 / 6;
    [1, 1, 1 / 2, 1 / 6].forEach((weight, c) => {
      expect(probabilities[c]).toBeCloseTo(weight / sum, 12);
    });
  });

  it('P(count > done): 1 below 0, then the tail, then 0', () => {
    const counts = goalsPerEpisode(3);
    expect(counts.again(-1)).toBeCloseTo(1, 12);
    expect(counts.again(0)).toBeCloseTo(1 - counts.probabilities[0], 12);
    expect(counts.again(2)).toBeCloseTo(counts.probabilities[3], 12);
    expect(counts.again(3)).toBe(0);
  });

  it('after m episodes of c drifts P(c) is 1 - (1 - p0) d^m', () => {
    const counts = goalsPerEpisode(6);
    const start = counts.probabilities[2];
    for (let m = 1; m <= 30; m++) {
      counts.add(2);
      expect(counts.probabilities[2]).toBeCloseTo(1 - (1 - start) * 0.98 ** m, 12);
    }
    counts.add(9); // more than there are counts as all of them
    expect(counts.probabilities.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });

  it('restores only a distribution', () => {
    const counts = goalsPerEpisode(3);
    const saved = counts.state();
    const doubled = { probabilities: (saved['probabilities'] as Float64Array).map((p) => p / 2) };
    expect(() => counts.restore(doubled)).toThrow(
      /goalsPerEpisode.restore: saved.probabilities: .*sum to 1, got a sum of 0.5/,
    );
    expect(counts.state()).toEqual(saved);
  });

  it('as a memory: "not again" has P(count <= done), the drifts that are left share the rest', () => {
    const memory = countMemory({ goals: 4, max: 3 });
    const { again } = goalsPerEpisode(3);
    const prior = memory.prior(1, Uint8Array.of(1, 0, 1, 1), 0);
    [again(1) / 2, 0, again(1) / 2, 1 - again(1)].forEach((expected, i) => {
      expect(prior[i]).toBeCloseTo(expected, 12);
    });
    expect(Array.from(memory.prior(0, Uint8Array.of(0, 0, 0, 1), 0))).toEqual([0, 0, 0, 1]);
  });

  it('a free rider is believed to ride on', () => {
    const memory = countMemory({ goals: 4, max: 3 });
    for (let i = 0; i < 150; i++) memory.add(-1, 0);
    expect(memory.prior(0, all(4), 0)[3]).toBeCloseTo(1 - (1 - goalsPerEpisode(3).probabilities[0]) * 0.98 ** 150, 12);
  });
});
