import { createGenerator } from '@coplay/core';
import { linearProbe } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';

/** Rows whose first feature is the label with a chance of `clear`, else its opposite; the second one is noise. */
function rowsOf(count: number, clear: number, seed = 1) {
  const generator = createGenerator(seed);
  const labels = Int32Array.from({ length: count }, () => (generator.uniform() < 0.6 ? 1 : 0));
  const features = new Float32Array(2 * count);
  labels.forEach((label, row) => {
    features[2 * row] = 3 + (generator.uniform() < clear ? label : 1 - label);
    features[2 * row + 1] = 100 * generator.normal();
  });
  return { features, labels, groups: Int32Array.from(labels, (_, row) => Math.floor(row / 4)) };
}

describe('linear probe', () => {
  it('tells what the features tell: the chance that is built in', () => {
    const { accuracy, balancedAccuracy, majority, rows } = linearProbe(
      rowsOf(8000, 0.9),
      { classes: 2 },
      createGenerator(2),
    );
    expect(accuracy).toBeCloseTo(0.9, 1.5);
    expect(balancedAccuracy).toBeCloseTo(0.9, 1.5);
    expect(majority).toBeCloseTo(0.6, 1.5);
    expect(rows).toEqual([5600, 2400]);
  });

  it('of noise is no better than the commonest class', () => {
    const { accuracy, majority } = linearProbe(rowsOf(8000, 0.5), { classes: 2 }, createGenerator(2));
    expect(accuracy - majority).toBeLessThan(0.02);
  });

  it('fits several classes that straight lines part', () => {
    const generator = createGenerator(5);
    const corners = [
      [0, 0],
      [4, 0],
      [0, 4],
    ];
    const labels = Int32Array.from({ length: 600 }, () => generator.integer(3));
    const features = Float32Array.from(
      [...labels].flatMap((label) => corners[label].map((x) => x + 0.3 * generator.normal())),
    );
    const groups = Int32Array.from(labels, (_, row) => row);
    expect(linearProbe({ features, labels, groups }, { classes: 3 }, generator).accuracy).toBeGreaterThan(0.99);
  });

  it('has the minimum of its loss: weights of a feature that is 0 or 1 are the difference of log-odds', () => {
    // Without noise of sampling: where the feature says 1, three of four are of class 1; where 0, one of four.
    const labels = Int32Array.from({ length: 4000 }, (_, row) => ((row % 8 < 4 ? row % 4 < 3 : row % 4 < 1) ? 1 : 0));
    const features = Float32Array.from(labels, (_, row) => (row % 8 < 4 ? 1 : 0));
    const groups = Int32Array.from(labels, (_, row) => row);
    const { accuracy } = linearProbe({ features, labels, groups }, { classes: 2 }, createGenerator(1));
    expect(accuracy).toBeCloseTo(0.75, 1.5);
  });

  it('holds out whole groups: what only tells the group helps nobody', () => {
    const generator = createGenerator(4);
    const groups = Int32Array.from({ length: 400 }, (_, row) => Math.floor(row / 20));
    const ofGroup = Array.from({ length: 20 }, () => generator.integer(2));
    const labels = Int32Array.from(groups, (group) => ofGroup[group]);
    const features = new Float32Array(400 * 20);
    groups.forEach((group, row) => {
      features[row * 20 + group] = 1;
    });
    const { accuracy, fitted } = linearProbe({ features, labels, groups }, { classes: 2 }, createGenerator(1));
    expect(fitted).toBe(1);
    expect(accuracy).toBeLessThan(0.9);
  });

  it('leaves out rows without a label, and says what it cannot read', () => {
    const { features, labels, groups } = rowsOf(100, 1);
    const some = labels.map((label, row) => (row < 50 ? -1 : label));
    const { rows } = linearProbe({ features, labels: some, groups }, { classes: 2 }, createGenerator(1));
    expect(rows[0] + rows[1]).toBe(50);
    expect(() =>
      linearProbe({ features: features.fill(NaN), labels, groups }, { classes: 2 }, createGenerator(1)),
    ).toThrow(/finite features/);
    const none = linearProbe(
      { features: new Float32Array(0), labels: [], groups: [] },
      { classes: 2 },
      createGenerator(1),
    );
    expect(none.accuracy).toBeNaN();
  });
});
