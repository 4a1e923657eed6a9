import { beliefFigure, beliefLine, priorLine, toPng } from '@coplay/diagnostics';
import { parseHTML } from 'linkedom';
import { describe, expect, it } from 'vitest';

/** Two episodes of 3 and 2 steps. */
const record = {
  goals: ['stag', 'hare'],
  beliefs: [
    [0.5, 0.5],
    [0.75, 0.25],
    [1, 0],
    [0.6, 0.4],
    [0.2, 0.8],
  ],
  starts: [0, 3],
};

const drawn = (svg: string) => {
  const { document } = parseHTML(svg);
  const uprights = [...document.querySelectorAll('[aria-label="rule"]')].filter((group) =>
    [...group.querySelectorAll('line')].every((line) => line.getAttribute('x1') === line.getAttribute('x2')),
  );
  const points = [...document.querySelectorAll('[aria-label="line"] path')].map((path) =>
    (path.getAttribute('d') as string).match(/-?[\d.]+,-?[\d.]+/g)!.map((point) => point.split(',').map(Number)),
  );
  const grid = [...document.querySelectorAll('[aria-label="y-grid"] line')].map((line) =>
    Number(line.getAttribute('y1')),
  );
  return { document, uprights, points, grid };
};

describe('lines', () => {
  it('are one goal by step, and by episode', () => {
    expect(beliefLine(record, 'hare')).toEqual({
      steps: [0, 1, 2, 3, 4],
      belief: [0.5, 0.25, 0, 0.4, 0.8],
      starts: [0, 3],
    });
    expect(priorLine(record, 'stag')).toEqual({ steps: [0, 1], belief: [0.5, 0.6] });
    expect(() => beliefLine(record, 'stags')).toThrow(
      /beliefLine: expected a goal among \["stag", "hare"\], got "stags"/,
    );
  });
});

describe('beliefFigure', () => {
  const one = beliefLine(record, 'stag');

  it('draws probabilities on a scale from 0 to 1, for any range of the data', async () => {
    const line = { steps: [10, 20, 30], belief: [0.25, 0.5, 0.75] };
    const { points, grid } = drawn(await beliefFigure({ agent_1: line }));
    const [bottom, top] = [Math.max(...grid), Math.min(...grid)];
    const heights = points[0].map(([, y]) => (bottom - y) / (bottom - top));
    heights.forEach((height, i) => {
      expect(height).toBeCloseTo(line.belief[i], 2);
    });
  });

  it('marks where episodes begin and where co-players changed, at their steps', async () => {
    const svg = await beliefFigure({ agent_1: { ...one, switches: [2] }, agent_2: one }, { title: 'P(stag)' });
    const { document, uprights, points } = drawn(svg);
    expect(points).toHaveLength(2);
    expect(document.querySelectorAll('[aria-label="line"]')).toHaveLength(2);
    const lines = uprights.flatMap((group) =>
      [...group.querySelectorAll('line')].map((line) => ({
        x: Number(line.getAttribute('x1')),
        stroke: (line.getAttribute('stroke') ?? group.getAttribute('stroke')) as string,
        isDashed: group.hasAttribute('stroke-dasharray'),
      })),
    );
    // Step 3 for both lines at once, not step 0; step 2 dashed, in the colour of the first line.
    expect(lines).toHaveLength(2);
    expect(lines[0].x).toBeCloseTo(points[0][3][0], 0);
    expect(lines[0].isDashed).toBe(false);
    expect(lines[1].x).toBeCloseTo(points[0][2][0], 0);
    expect(lines[1]).toMatchObject({ isDashed: true, stroke: '#0072b2' });
    const texts = [...document.querySelectorAll('text')].map((text) => text.textContent);
    expect(texts).toEqual(expect.arrayContaining(['P(stag)', 'agent_1', 'agent_2', 'step', 'P(goal)']));
  });

  it('leaves marks of many short episodes out', async () => {
    const steps = Array.from({ length: 600 }, (_, step) => step);
    const belief = steps.map(() => 0.5);
    const every = (gap: number) => steps.filter((step) => step % gap === 0);
    const uprights = async (gap: number) =>
      drawn(await beliefFigure({ a: { steps, belief, starts: every(gap) } })).uprights.flatMap((group) => [
        ...group.querySelectorAll('line'),
      ]).length;
    expect(await uprights(10)).toBe(59);
    expect(await uprights(4)).toBe(0); // 149 of them in 720 pixels
  });

  it('takes one point and gaps, shows references, and becomes a PNG', async () => {
    const svg = await beliefFigure({ a: { steps: [3], belief: [0.5] } }, { references: { bar: 0.9 } });
    expect(svg).toContain('bar');
    expect(drawn(svg).document.querySelectorAll('[aria-label="dot"] circle')).toHaveLength(1);
    const gap = await beliefFigure({ a: { steps: [0, 1, 2, 3, 4], belief: [0.1, 0.2, Number.NaN, 0.3, 0.4] } });
    expect((gap.match(/aria-label="line"[^>]*><path d="([^"]*)"/) as RegExpMatchArray)[1].match(/M/g)).toHaveLength(2);
    expect((await toPng(svg, { zoom: 1 })).length).toBeGreaterThan(1000);
  });

  it('refuses what is no belief', async () => {
    await expect(beliefFigure({})).rejects.toThrow(/beliefFigure: expected lines by label, got none/);
    await expect(beliefFigure({ a: { steps: [1], belief: [1.2] } })).rejects.toThrow(/from 0 to 1, or NaN, got 1.2/);
    await expect(beliefFigure({ a: { steps: [1, 2], belief: [1] } })).rejects.toThrow(/2 steps and 1 beliefs/);
    await expect(beliefFigure({ a: one }, { hight: 3 } as object)).rejects.toThrow(/unknown option "hight"/);
  });
});
