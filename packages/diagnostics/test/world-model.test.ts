import { type NDArray, ndarray } from '@coplay/core';
import {
  calibration,
  exactTransitions,
  illegalMoves,
  openLoopErrors,
  planesErrors,
  planesFigure,
  psnr,
  truePlanes,
  worldModelCsv,
  worldModelReport,
  worldModelTable,
} from '@coplay/diagnostics/world-model';
import { parseHTML } from 'linkedom';
import { describe, expect, it } from 'vitest';

const floats = (values: number[], shape: number[]) =>
  ndarray(Float32Array.from(values), shape) as NDArray<Float32Array>;
const ints = (values: number[], shape: number[]) => ndarray(Int32Array.from(values), shape);
const bytes = (values: number[], shape: number[]) => ndarray(Uint8Array.from(values), shape);

describe('planesErrors', () => {
  it('pools, and takes means over samples, as derived by hand', () => {
    // Two samples of 1 x 2 cells and 2 channels. Errors of sample 0: 0.1 in channel a; of sample 1: 0.5 in both cells
    // of b.
    const predicted = floats([0.1, 0, 0, 0, 1, 0.5, 0, 0.5], [2, 1, 2, 2]);
    const actual = bytes([0, 0, 0, 0, 1, 1, 0, 0], [2, 1, 2, 2]);
    const errors = planesErrors({ channels: ['a', 'b'], predicted, actual });
    expect(errors.observationMse).toBeCloseTo((0.01 + 0.25 + 0.25) / 8, 7);
    expect(errors.channelMse['a']).toBeCloseTo(0.01 / 4, 7);
    expect(errors.channelMse['b']).toBeCloseTo(0.5 / 4, 7);
    expect(errors.psnrPooled).toBeCloseTo(10 * Math.log10(8 / 0.51), 5);
    expect(errors.psnrMean).toBeCloseTo((10 * Math.log10(4 / 0.01) + 10 * Math.log10(4 / 0.5)) / 2, 5);
    expect(psnr(0.01)).toBeCloseTo(20, 10);
  });

  it('counts a sample without error as 100 dB in the mean, and as infinite in the pool', () => {
    const same = floats([1, 0], [1, 1, 1, 2]);
    const { psnrMean, psnrPooled } = planesErrors({ channels: ['a', 'b'], predicted: same, actual: same });
    expect(psnrMean).toBeCloseTo(100, 6);
    expect(psnrPooled).toBe(Number.POSITIVE_INFINITY);
    expect(() => planesErrors({ channels: ['a'], predicted: same, actual: same })).toThrow(/\[B, H, W, 1\]/);
  });
});

/** Two transitions of two agents on 2 x 2 cells; an obstacle on cell 3 in the second. */
const rows = {
  cells: ints([0, 1, 0, 4], [2, 2]),
  fixed: bytes([0, 0, 0, 0, 0, 0, 0, 1], [2, 1, 4]),
  'next/cells': ints([2, 4, 1, 4], [2, 2]),
  'next/things': bytes([0, 1, 0, 0, 0, 0, 1, 0], [2, 1, 4]),
  rewards: floats([0, 5, 0, 0], [2, 2]),
};

describe('transitions', () => {
  it('are exact if all of the next state is', () => {
    expect([...exactTransitions(rows, rows)]).toEqual([1, 1]);
    const wrongThing = { ...rows, 'next/things': bytes([0, 1, 0, 0, 0, 0, 0, 0], [2, 1, 4]) };
    expect([...exactTransitions(wrongThing, rows)]).toEqual([1, 0]);
    const wrongCell = { ...rows, 'next/cells': ints([1, 4, 1, 4], [2, 2]) };
    expect([...exactTransitions(wrongCell, rows)]).toEqual([0, 1]);
    expect(() => exactTransitions({ rewards: rows.rewards }, rows)).toThrow(/next\/NAME/);
  });

  it('are illegal where an agent jumps, walks into what stays, or comes back', () => {
    const grid = { rows: 2, columns: 2 };
    expect([...illegalMoves(grid, rows, rows['next/cells'].data)]).toEqual([0, 0, 0, 0]);
    // From 0 to 3 is two steps; staying is none; 0 to 3 is also an obstacle; coming back from having left.
    expect([...illegalMoves(grid, rows, [3, 1, 3, 0])]).toEqual([1, 0, 1, 1]);
    const wide = { cells: ints([3], [1, 1]), fixed: bytes(new Array(8).fill(0), [1, 1, 8]) };
    expect([...illegalMoves({ rows: 2, columns: 4 }, wide, [4])]).toEqual([1]); // next in reading order, far away
  });
});

describe('worldModelReport', () => {
  // What is expected: agent 0 goes to 2 (0.9) or stays; agent 1 leaves (0.8); agent 0 goes to 1 (0.6), agent 1 is gone.
  const planes = new Float32Array(2 * 4 * 4);
  const put = (row: number, cell: number, channel: number, value: number) => {
    planes[(row * 4 + cell) * 4 + channel] = value;
  };
  put(0, 2, 0, 0.9);
  put(0, 0, 0, 0.1);
  put(0, 1, 1, 0.2);
  put(1, 1, 0, 0.6);
  put(1, 0, 0, 0.4);
  put(1, 3, 2, 1);
  put(0, 1, 3, 1);
  put(1, 2, 3, 1);
  const channels = ['agent_0', 'agent_1', 'obstacles', 'hares'];
  const report = worldModelReport({ channels, planes: ndarray(planes, [2, 2, 2, 4]), happened: rows, rows });

  it('has every figure', () => {
    expect(report.transitions).toBe(2);
    expect(report.exact).toBe(1);
    expect(report.rewardMse).toBe(0);
    expect(report.illegalMoveRate).toBe(0);
    expect(report.channelMse['agent_0']).toBeCloseTo((0.01 + 0.01 + 0.16 + 0.16) / 8, 6);
    expect(report.channelMse['agent_1']).toBeCloseTo(0.04 / 8, 6);
    expect(report.channelMse['obstacles']).toBe(0);
    // Three agents on the map: confidences 0.9, 0.8, 0.6, and all came true.
    expect(report.calibration.error).toBeCloseTo((0.1 + 0.2 + 0.4) / 3, 5);
  });

  it('knows the planes that came', () => {
    const seen = truePlanes(rows, [2, 2, 2, 4]).data;
    const found = [...seen].flatMap((x, i) => (x === 1 ? [i] : []));
    expect(found).toEqual([7, 8, 20, 27, 30]); // row 0: hare 1, agent 0 on 2; row 1: agent 0 on 1, hare 2, obstacle 3
  });

  it('is written as a table and as CSV with every digit', () => {
    const table = worldModelTable({ ours: report, notes: { observationMse: 0.0074 } });
    expect(table.map((row) => row['figure'])).toContain('MSE of hares');
    expect(table[0]).toEqual({ figure: 'observation MSE', ours: report.observationMse, notes: 0.0074 });
    const lines = worldModelCsv({ ours: report, notes: { observationMse: 0.0074 } }).split('\n');
    expect(lines[0]).toBe('figure,ours,notes');
    expect(lines[1]).toBe(`observation MSE,${report.observationMse},0.0074`);
    expect(lines.find((line) => line.startsWith('reward MSE'))).toBe('reward MSE,0,');
  });
});

describe('openLoopErrors', () => {
  it('has a row for each step', () => {
    const late = { 'next/cells': ints([2], [1, 1]), rewards: floats([1], [1, 1]) };
    const wrong = { 'next/cells': ints([3], [1, 1]), rewards: floats([3], [1, 1]) };
    const steps = openLoopErrors([
      { happened: rows, rows },
      { happened: wrong, rows: late },
    ]);
    expect(steps).toEqual([
      { step: 1, sequences: 2, exact: 1, rewardMse: 0 },
      { step: 2, sequences: 1, exact: 0, rewardMse: 4 },
    ]);
    expect(() => openLoopErrors([])).toThrow(/at least one step/);
  });
});

describe('calibration', () => {
  it('compares confidence with success, bin by bin', () => {
    const { bins, error } = calibration([0.55, 0.6, 0.95, 1], [1, 0, 1, 1], 10);
    expect(bins[5].count).toBe(2);
    expect(bins[5].confidence).toBeCloseTo(0.575, 10);
    expect(bins[5].cameTrue).toBe(0.5);
    expect(bins[9].count).toBe(2);
    expect(error).toBeCloseTo((Math.abs(1.15 - 1) + Math.abs(1.95 - 2)) / 4, 10);
    expect(() => calibration([], [])).toThrow(/at least one/);
  });
});

describe('planesFigure', () => {
  it('shows raw values of each channel next to the true ones, and rounds none to 0 or 1', async () => {
    const predicted = floats([0.9997, 3e-4, 0.25, 1, -0.02, 1.02, 0, 0.5], [1, 2, 2, 2]);
    const actual = bytes([1, 0, 0, 1, 0, 1, 0, 0], [1, 2, 2, 2]);
    const svg = await planesFigure({ channels: ['self', 'hares'], predicted, actual }, 0, { title: 'A step' });
    const texts = [...parseHTML(svg).document.querySelectorAll('text')].map((text) => text.textContent ?? '');
    expect(texts).toEqual(expect.arrayContaining(['A step', 'self', 'hares', 'predicted', 'true']));
    expect(texts).toEqual(expect.arrayContaining(['1-3.0e-4', '3.0e-4', '0.25', '-0.020', '1+0.020', '0.50']));
    const numbers = texts.filter((text) => text === '1' || text === '0');
    expect(numbers).toHaveLength(2 + 8); // two of the predictions are exactly so, and all that is true
    await expect(planesFigure({ channels: ['self', 'hares'], predicted, actual }, 1)).rejects.toThrow(/from 0 to 0/);
  });
});
