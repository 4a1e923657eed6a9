import { ndarray, type ObservationField, type ObservationKind } from '@coplay/core';
import { openLoopFigure, openLoopMetrics, openLoopOf, openLoopStepErrors } from '@coplay/diagnostics/world-model';
import { parseHTML } from 'linkedom';
import { describe, expect, it } from 'vitest';

const floats = (values: number[], shape: number[]) => ndarray(Float32Array.from(values), shape);
const bytes = (values: number[], shape: number[]) => ndarray(Uint8Array.from(values), shape);

/**
 * Two sequences of three steps, of which one is seen, of a grid of 1 x 2 cells; in the second another episode begins
 * after two steps.
 */
const open = {
  context: 1,
  actual: {
    'obs/planes': bytes([1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0], [2, 3, 1, 2, 1]),
    rewards: floats([0, 1, 2, 3, 4, 5], [2, 3]),
  },
  predicted: {
    'obs/planes': floats([0.5, 0, 0.25, 1, 0.9997, 0, 0.5, 1, 1, 0, 7, 7], [2, 3, 1, 2, 1]),
    rewards: floats([0, 1, 0, 3, 1, 99], [2, 3]),
  },
  valid: bytes([1, 1, 1, 1, 1, 0], [2, 3]),
};

describe('open-loop errors', () => {
  it('are means of squares over the sequences that can be compared, by step', () => {
    const steps = openLoopStepErrors(openLoopOf(open, 'obs/planes'));
    expect(steps.map(({ step, isImagined, sequences }) => [step, isImagined, sequences])).toEqual([
      [0, false, 2],
      [1, true, 2],
      [2, true, 1],
    ]);
    // Step 0: 0.5^2 in one of two cells of both sequences. Step 1: 0.25^2 and 1. Step 2: 0.0003^2 in one of two cells.
    expect(steps[0].mse).toBeCloseTo((0.25 + 0.25) / 4, 7);
    expect(steps[1].mse).toBeCloseTo((0.0625 + 1) / 4, 7);
    expect(steps[2].mse).toBeCloseTo(9e-8 / 2, 9);
  });

  it('are pooled over what was seen and what was imagined', () => {
    const metrics = openLoopMetrics(open);
    expect(metrics['openloop/mse_seen/planes']).toBeCloseTo(0.125, 7);
    expect(metrics['openloop/mse_imagined/planes']).toBeCloseTo((2 * (1.0625 / 4) + 4.5e-8) / 3, 7);
    expect(metrics['openloop/mse_seen/rewards']).toBe(0);
    expect(metrics['openloop/mse_imagined/rewards']).toBeCloseTo((0 + 9 + 4) / 3, 7);
    const cut = openLoopMetrics({ ...open, valid: bytes([1, 0, 0, 1, 0, 0], [2, 3]) });
    expect(Object.keys(cut)).toEqual(['openloop/mse_seen/planes', 'openloop/mse_seen/rewards']);
  });

  it('refuse what does not fit', () => {
    const { actual, predicted } = openLoopOf(open, 'rewards');
    expect(() => openLoopStepErrors({ context: 3, actual, predicted })).toThrow(/a context in 1..2, got 3/);
    const other = floats([0, 1], [1, 2]);
    expect(() => openLoopStepErrors({ context: 1, actual, predicted: other })).toThrow(
      /predictions \[2,3\], got \[1,2\]/,
    );
    expect(() => openLoopStepErrors({ context: 1, actual, predicted, valid: other })).toThrow(/valid \[2,3\]/);
  });
});

describe('openLoopFigure', () => {
  const textsOf = (svg: string) =>
    [...parseHTML(svg).document.querySelectorAll('text')].map((text) => text.textContent ?? '');

  it('shows what came, what was predicted and the difference of each channel, step by step, raw', async () => {
    const svg = await openLoopFigure(openLoopOf(open, 'obs/planes'), 0, { names: ['ball'], title: 'Catch' });
    const texts = textsOf(svg);
    const labels = ['Catch', 'ball: true', 'ball: predicted', 'ball: difference', '0 seen', '1 imagined', '2 imagined'];
    expect(texts).toEqual(expect.arrayContaining(labels));
    // 0.5 - 1, 0.25 - 0 and 0.9997 - 1; of 18 cells the rest is 0 or 1.
    for (const raw of ['0.50', '-0.50', '1-3.0e-4', '-3.0e-4']) expect(texts.filter((x) => x === raw)).toHaveLength(1);
    expect(texts.filter((x) => x === '0.25')).toHaveLength(2);
    expect(texts.filter((x) => x === '0' || x === '1')).toHaveLength(18 - 6);
  });

  it('leaves out steps at the end that cannot be compared, and leaves those in between empty', async () => {
    const texts = textsOf(await openLoopFigure(openLoopOf(open, 'obs/planes'), 1));
    expect(texts).toContain('1 imagined');
    expect(texts).not.toContain('2 imagined');
    expect(texts).not.toContain('7');
    expect(texts.filter((x) => /^[-\d.]+$/.test(x))).toHaveLength(2 * 2 * 3);
    const gap = openLoopOf({ ...open, valid: bytes([1, 0, 1, 1, 1, 0], [2, 3]) }, 'obs/planes');
    expect(textsOf(await openLoopFigure(gap, 0))).toEqual(expect.arrayContaining(['1 imagined', '2 imagined']));
  });

  it('leaves room for the longest label', async () => {
    const svg = await openLoopFigure(openLoopOf(open, 'obs/planes'), 0, { names: ['a channel with a long name'] });
    const label = [...parseHTML(svg).document.querySelectorAll('text')].find((text) =>
      text.textContent?.startsWith('a channel'),
    )!;
    type Node = { getAttribute?(name: string): string | null; parentElement: Node | null };
    const left = (node: Node | null): number => {
      const [, x = '0'] = /translate\(([-\d.]+)/.exec(node?.getAttribute?.('transform') ?? '') ?? [];
      return node ? Number(x) + left(node.parentElement) : 0;
    };
    expect(left(label)).toBeGreaterThan(6 * 'a channel with a long name: predicted'.length); // it ends there
  });

  it('takes the numbers of a vector for channels, of which some may be chosen', async () => {
    const vector = (values: number[]) => floats(values, [1, 2, 2]);
    const data = { context: 1, actual: vector([1, 2, 3, 4]), predicted: vector([1, 2.5, 3, 4.25]) };
    const texts = textsOf(await openLoopFigure(data, 0, { names: ['x', 'v'], channels: ['v'] }));
    expect(texts.filter((x) => ['2', '2.50', '0.50', '4', '4.25', '0.25'].includes(x))).toHaveLength(6);
    expect(texts.some((x) => x.startsWith('x:'))).toBe(false);
    await expect(openLoopFigure(data, 0, { names: ['x'] })).rejects.toThrow(/2 names/);
    await expect(openLoopFigure(data, 0, { channels: ['z'] })).rejects.toThrow(/channels among 0, 1, got z/);
    await expect(openLoopFigure(data, 1)).rejects.toThrow(/from 0 to 0/);
  });

  /** The fills of cells: in each step those of `true`, of `predicted`, then of `difference`. */
  const fillsOf = (svg: string) =>
    [...parseHTML(svg).document.querySelectorAll('g[aria-label="cell"] rect')].map((rect) => rect.getAttribute('fill'));
  /** White and blue of the scheme Blues, at the ends of its span. */
  const [WHITE, BLUE] = ['rgb(247, 251, 255)', 'rgb(8, 48, 107)'];
  /** Two steps of one value each, with equal record and prediction. */
  const steps = (values: number[], rest: number[] = [1]) => {
    const array = floats(values, [1, 2, ...rest]);
    return { context: 1, actual: array, predicted: array };
  };
  const field = (kind: ObservationKind, shape: number[], more: Omit<ObservationField, 'kind' | 'shape'>) => ({
    field: { kind, shape, ...more },
  });

  it.each([
    ['planes from 0 to 1', steps([0, 1], [1, 1, 1]), field('planes', [1, 1, 1], { dtype: 'uint8' }), [WHITE, BLUE]],
    ['codes from 0 to 1', steps([0, 1]), field('one-hot', [1], { dtype: 'uint8' }), [WHITE, BLUE]],
    ['an image to 255', steps([0, 255], [1, 1, 1]), field('image', [1, 1, 1], { dtype: 'uint8' }), [WHITE, BLUE]],
    [
      'an image to its largest value',
      steps([0, 4], [1, 1, 1]),
      field('image', [1, 1, 1], { dtype: 'float32', high: 4 }),
      [WHITE, BLUE],
    ],
    ['a vector over its own values', steps([-0.01, 0.01]), field('vector', [1], { dtype: 'float32' }), [WHITE, BLUE]],
    ['a vector, where no field is given', steps([500, 501]), {}, [WHITE, BLUE]],
  ])('colours %s', async (_, data, options, expected) => {
    const fills = fillsOf(await openLoopFigure(data, 0, options));
    expect([fills[0], fills[3]]).toEqual(expected);
    expect([fills[1], fills[4]]).toEqual(expected);
  });

  it('leaves a dark image dark', async () => {
    const options = field('image', [1, 1, 1], { dtype: 'uint8' });
    const dark = fillsOf(await openLoopFigure(steps([0, 2], [1, 1, 1]), 0, options))[3];
    const bright = fillsOf(await openLoopFigure(steps([0, 255], [1, 1, 1]), 0, options))[3];
    expect(bright).toBe(BLUE);
    // 2 of 255 lies within the first hundredth of the scale, next to white.
    expect(Number(/rgb\((\d+)/.exec(dark ?? '')?.[1])).toBeGreaterThan(240);
  });

  it('shows differences of a vector by its own span', async () => {
    const array = (values: number[]) => floats(values, [1, 2, 1]);
    const data = { context: 1, actual: array([0, 0.02]), predicted: array([0.02, 0.02]) };
    const fills = fillsOf(await openLoopFigure(data, 0));
    // A difference of all of the span has the last colour of RdBu, none is in the middle of it.
    expect([fills[2], fills[5]]).toEqual(['rgb(5, 48, 97)', 'rgb(242, 239, 238)']);
  });

  it('draws the numbers of a vector of any shape, and names the classes of indices', async () => {
    const grid = steps([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 1]);
    const asPlanes = textsOf(await openLoopFigure(grid, 0));
    expect(asPlanes.filter((text) => text.endsWith(': true'))).toEqual(['0: true']);
    const asVector = textsOf(await openLoopFigure(grid, 0, field('vector', [2, 2, 1], { dtype: 'float32' })));
    expect(asVector.filter((text) => text.endsWith(': true'))).toEqual(['0: true', '1: true', '2: true', '3: true']);
    const indices = field('indices', [1], { dtype: 'int32', classes: 2, channels: ['door'] });
    const asCodes = textsOf(await openLoopFigure(steps([0, 1, 1, 0], [2]), 0, indices));
    expect(asCodes.filter((text) => text.endsWith(': true'))).toEqual(['door 0: true', 'door 1: true']);
  });

  it('refuses a field of another size or kind', async () => {
    const image = field('image', [1, 1], { dtype: 'uint8' });
    await expect(openLoopFigure(steps([0, 1]), 0, image)).rejects.toThrow(
      /option field: expected the shape \[H, W, C\]/,
    );
    const large = field('planes', [2], { dtype: 'uint8' });
    await expect(openLoopFigure(steps([0, 1]), 0, large)).rejects.toThrow(
      /option field: expected a field of 1 values, as in \[1\], got 2/,
    );
    await expect(openLoopFigure(steps([0, 1]), 0, { field: 7 as never })).rejects.toThrow(/option field/);
  });
});
