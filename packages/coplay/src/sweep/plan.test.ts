import { createGenerator, streamSeed } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { checkSweep, planOf, type Sweep } from './plan';

const plan = (sweep: Partial<Sweep>) => planOf('a.json', checkSweep('a.json', { configuration: {}, ...sweep }));
const settingsOf = (sweep: Partial<Sweep>) => plan(sweep).map(({ settings }) => settings);

describe('a grid', () => {
  it('is all combinations, the last axis fastest, each with the same seeds', () => {
    expect(plan({ axes: { a: [1, 2], b: ['x', null] }, seeds: [7, 3] })).toEqual([
      { name: '000-seed-7', setting: 0, settings: { a: 1, b: 'x' }, seed: 7 },
      { name: '000-seed-3', setting: 0, settings: { a: 1, b: 'x' }, seed: 3 },
      { name: '001-seed-7', setting: 1, settings: { a: 1, b: null }, seed: 7 },
      { name: '001-seed-3', setting: 1, settings: { a: 1, b: null }, seed: 3 },
      { name: '002-seed-7', setting: 2, settings: { a: 2, b: 'x' }, seed: 7 },
      { name: '002-seed-3', setting: 2, settings: { a: 2, b: 'x' }, seed: 3 },
      { name: '003-seed-7', setting: 3, settings: { a: 2, b: null }, seed: 7 },
      { name: '003-seed-3', setting: 3, settings: { a: 2, b: null }, seed: 3 },
    ]);
  });

  it('has both ends of a range, by equal steps, equal ratios, or in whole numbers', () => {
    const values = (axis: object) => settingsOf({ axes: { a: axis as never } }).map((settings) => settings['a']);
    expect(values({ from: 0, to: 1, count: 5 })).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(values({ from: 1e-4, to: 1e-2, count: 3, scale: 'log' })).toEqual([1e-4, expect.closeTo(1e-3, 12), 1e-2]);
    expect(values({ from: 16, to: 128, count: 4, scale: 'log', whole: true })).toEqual([16, 32, 64, 128]);
  });

  it('leaves an axis out where its condition is not met', () => {
    const axes = { kind: ['ppo', 'hop'], trees: { values: [1, 5], when: { kind: ['hop'] } } };
    expect(settingsOf({ axes })).toEqual([{ kind: 'ppo' }, { kind: 'hop', trees: 1 }, { kind: 'hop', trees: 5 }]);
  });

  it('takes settings one by one', () => {
    const list = [{ a: 1 }, { b: 2, c: 3 }];
    expect(plan({ list }).map(({ name, settings }) => ({ name, settings }))).toEqual([
      { name: '000-seed-1', settings: { a: 1 } },
      { name: '001-seed-1', settings: { b: 2, c: 3 } },
    ]);
  });
});

describe('a random search', () => {
  const axes = {
    rate: { from: 1e-5, to: 1e-1, scale: 'log' as const },
    width: { from: 1, to: 4, whole: true },
    kind: ['a', 'b', 'c'],
    noise: { mean: 2, deviation: 0.5 },
  };
  const draws = settingsOf({ axes, search: 'random', samples: 2000 });
  const of = (name: string) => draws.map((settings) => settings[name] as number);

  it('draws from the ranges, log ranges by orders of magnitude', () => {
    const rates = of('rate').map(Math.log10);
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(-5);
    expect(Math.max(...rates)).toBeLessThan(-1);
    // A quarter of the draws in each order of magnitude, within five standard errors.
    for (const order of [-5, -4, -3, -2]) {
      const share = rates.filter((rate) => rate >= order && rate < order + 1).length / 2000;
      expect(Math.abs(share - 0.25)).toBeLessThan(5 * Math.sqrt((0.25 * 0.75) / 2000));
    }
    for (const width of [1, 2, 3, 4]) {
      const share = of('width').filter((drawn) => drawn === width).length / 2000;
      expect(Math.abs(share - 0.25)).toBeLessThan(5 * Math.sqrt((0.25 * 0.75) / 2000));
    }
    expect(new Set(of('kind') as unknown[])).toEqual(new Set(['a', 'b', 'c']));
    const noise = of('noise');
    const mean = noise.reduce((sum, value) => sum + value, 0) / 2000;
    const deviation = Math.sqrt(noise.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2000);
    expect(Math.abs(mean - 2)).toBeLessThan(5 * (0.5 / Math.sqrt(2000)));
    expect(Math.abs(deviation - 0.5)).toBeLessThan(5 * (0.5 / Math.sqrt(4000)));
  });

  it('keeps its draws where samples or axes are added', () => {
    const { rate } = axes;
    const few = settingsOf({ axes: { rate }, search: 'random', samples: 3 });
    expect(few).toEqual(draws.slice(0, 3).map((settings) => ({ rate: settings['rate'] })));
    expect(settingsOf({ axes: { rate }, search: 'random', samples: 3, drawSeed: 1 })).not.toEqual(few);
    const share = createGenerator(streamSeed(0, 'sweep rate 1')).uniform();
    expect(few[1]['rate']).toBeCloseTo(10 ** (-5 + 4 * share), 12);
  });
});

it.each<[string, Partial<Sweep> | Record<string, unknown>, RegExp]>([
  ['neither axes nor a list', {}, /either axes or list/],
  ['no axis', { axes: {} }, /at least one axis/],
  ['an axis without values', { axes: { a: [] } }, /axes.a/],
  ['a range backwards', { axes: { a: { from: 2, to: 1, count: 3 } } }, /axes.a/],
  ['a log range from 0', { axes: { a: { from: 0, to: 1, count: 3, scale: 'log' } } }, /axes.a/],
  ['a broken end of whole numbers', { axes: { a: { from: 0.5, to: 3, count: 2, whole: true } } }, /axes.a/],
  ['a range without a count in a grid', { axes: { a: { from: 0, to: 1 } } }, /axis a: expected points of a grid/],
  ['a distribution in a grid', { axes: { a: { mean: 0, deviation: 1 } } }, /axis a: expected points of a grid/],
  ['a grid with samples', { axes: { a: [1] }, samples: 3 }, /samples with search random/],
  ['one value twice', { axes: { a: [1, 1] } }, /settings that differ, got \{"a":1\} twice/],
  ['equal whole numbers', { axes: { a: { from: 1, to: 2, count: 4, whole: true } } }, /settings that differ/],
  ['an empty list', { list: [] }, /option list/],
  [
    'settings twice',
    {
      list: [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    },
    /settings that differ, got \{"a":1,"b":2\} twice/,
  ],
  ['halving of no one', { axes: { a: [1] }, halving: { first: 10, eta: 1 } }, /halving.eta/],
  ['one seed twice', { axes: { a: [1] }, seeds: [1, 2, 1] }, /seeds: expected each seed once, got 1 twice/],
  ['an axis of seeds', { axes: { seed: [1, 2] } }, /got "seed"\. Use seeds of the sweep/],
  ['a directory in the configuration', { axes: { a: [1] }, configuration: { directory: 'x' } }, /no directory/],
  ['an axis within another', { axes: { ppo: [{}], 'ppo.gamma': [1] } }, /no part of each other, got "ppo"/],
  ['a condition on a later axis', { axes: { a: { values: [1], when: { b: [1] } }, b: [1] } }, /axis a: .* got "b"/],
  ['an unknown option', { axes: { a: [1] }, sedes: 3 }, /unknown option "sedes"/],
])('refuses %s', (_, sweep, message) => {
  expect(() => plan(sweep)).toThrow(message);
});
