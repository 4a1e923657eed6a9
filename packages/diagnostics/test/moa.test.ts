import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadNpz } from '@coplay/buffers/npz';
import { moaEvaluation, moaFigures, writeMoaEvaluation } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';
import { moaCsv } from '../src/moa/files';
import { readStrictCsv } from './strict-csv';

const classes = ['a', 'b', 'c', 'd'];
/** Guesses: a, a, b, b, c; done: a, b, b, a, a. */
const scores = Float32Array.from(
  [
    [0.7, 0.2, 0.1, 0],
    [0.6, 0.3, 0.1, 0],
    [0.1, 0.8, 0.06, 0.04],
    [0.01, 0.9, 0.05, 0.04],
    [0.1, 0.3, 0.5, 0.1],
  ].flat(),
);
const labels = Int32Array.of(0, 1, 1, 0, 0);

describe('moaEvaluation', () => {
  const found = moaEvaluation({ classes, scores, labels });

  it('counts as by hand', () => {
    expect(found.confusion).toEqual([
      [1, 1, 1, 0],
      [1, 1, 0, 0],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
    expect(found.top1).toBeCloseTo(2 / 5, 12);
    expect(found.top3).toBeCloseTo(4 / 5, 12); // a is the least likely in row 3 only; in row 4 it is third, before d
    const [a, b, c, d] = found.classes;
    expect(a).toMatchObject({ count: 3, ratio: 0.6, precision: 0.5, recall: 1 / 3 });
    expect(a.f1).toBeCloseTo((2 * 0.5 * (1 / 3)) / (0.5 + 1 / 3), 12);
    expect(b).toMatchObject({ count: 2, precision: 0.5, recall: 0.5, f1: 0.5 });
    expect(c).toMatchObject({ count: 0, precision: 0, f1: 0 });
    expect([c.recall, d.recall, d.precision, d.f1]).toEqual([NaN, NaN, NaN, NaN]);
    expect(found.balancedAccuracy).toBeCloseTo((1 / 3 + 1 / 2) / 2, 12);
  });

  it('counts probabilities in parts', () => {
    const parts = Float64Array.from(
      [
        [0.5, 0.5, 0, 0],
        [0, 0.25, 0.25, 0.5],
      ].flat(),
    );
    const two = moaEvaluation({ classes, scores: scores.slice(0, 8), labels: parts });
    expect(two.confusion.map(([first]) => first)).toEqual([0.5, 0.75, 0.25, 0.5]);
    expect(two.top1).toBe(0.25);
    expect(two.top3).toBe(0.75);
  });

  it('decides between equal scores by the other predictor, and only between equal ones', () => {
    const equal = Float64Array.of(0.4, 0.4, 0.2, 0, 0.4, 0.3, 0.3, 0);
    const tieBreak = Float64Array.of(0.1, 0.2, 0.7, 0, 0, 1, 0, 0);
    const guesses = (options: object) =>
      moaEvaluation({ classes, scores: equal, labels: Int32Array.of(0, 0), ...options }).confusion[0];
    expect(guesses({})).toEqual([2, 0, 0, 0]);
    expect(guesses({ tieBreak })).toEqual([1, 1, 0, 0]);
  });

  it('refuses arrays that do not fit', () => {
    expect(() => moaEvaluation({ classes, scores, labels: Int32Array.of(1) })).toThrow(/expected labels of 5 rows/);
    expect(() => moaEvaluation({ classes, scores, labels, tieBreak: scores.slice(4) })).toThrow(/tieBreak of 20/);
  });

  it('is written as CSV and NPZ', async () => {
    const [first, second] = readStrictCsv(moaCsv([found, found]));
    const names = ['epoch', 'count', 'top1', 'top3', 'balanced_accuracy', 'a/count'];
    expect(Object.keys(first).slice(0, 6)).toEqual(names);
    expect(Object.keys(first).length).toBe(5 + 4 * 5);
    expect(first).toMatchObject({ epoch: '0', count: '5', top1: '0.4', 'a/precision': '0.5', 'd/recall': '' });
    expect(second['epoch']).toBe('1');
    const path = join(mkdtempSync(join(tmpdir(), 'moa-')), 'new', 'evaluation');
    await writeMoaEvaluation(path, [found, found]);
    expect(readFileSync(`${path}.csv`, 'utf8')).toBe(moaCsv([found, found]));
    const arrays = await loadNpz(`${path}.npz`);
    expect(arrays['confusion'].shape).toEqual([2, 4, 4]);
    expect([...arrays['recall'].data].slice(0, 2)).toEqual([1 / 3, 0.5]);
  });

  it('is drawn, the confusion next to the best possible', async () => {
    const figures = await moaFigures([found, found], found);
    expect(figures.confusion).toContain('Guesses, model');
    expect(figures.confusion).toContain('Guesses, best possible');
    for (const svg of Object.values(figures)) expect(svg).not.toMatch(/NaN|undefined/);
    await expect(moaFigures([])).rejects.toThrow(/at least one epoch/);
  });
});
