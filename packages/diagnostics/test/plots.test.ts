import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  barChart,
  boxPlot,
  heatMap,
  learningCurves,
  parallelCoordinates,
  toGif,
  toPng,
  writeFigure,
} from '@coplay/diagnostics';
import { Resvg } from '@resvg/resvg-js';
import { parseHTML } from 'linkedom';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from './helpers';

const curve = (top: number) => ({ steps: [0, 500, 1000], values: [0, top / 2, top] });

/** Texts of a figure. */
function textsOf(svg: string): string[] {
  const { document } = parseHTML(svg);
  return [...document.querySelectorAll('text')].map((text) => text.textContent ?? '');
}

/** Width and height out of a PNG's header. */
function sizeOfPng(png: Uint8Array): [number, number] {
  const view = new DataView(png.buffer, png.byteOffset);
  return [view.getUint32(16), view.getUint32(20)];
}

describe('learningCurves', () => {
  it('draws a line and a band for each label, with title, axes, legend and references', async () => {
    const svg = await learningCurves(
      { 'own <weights>': [curve(2), curve(3)], shared: [curve(1), curve(2)] },
      { title: 'PPO & co', y: 'return per agent', references: { 'four NearestStag': 2.85 } },
    );
    const texts = textsOf(svg);
    expect(texts).toEqual(expect.arrayContaining(['PPO & co', 'own <weights>', 'shared', 'four NearestStag']));
    expect(texts).toEqual(expect.arrayContaining(['return per agent', 'environment steps', '1k', '500']));
    const { document } = parseHTML(svg);
    expect(document.querySelectorAll('[aria-label="line"]')).toHaveLength(2);
    expect(document.querySelectorAll('[aria-label="area"] path')).toHaveLength(2);
  });

  it('ends where the curves end: the last point of the line is the mean of the last values', async () => {
    const svg = await learningCurves({ a: [curve(2), curve(4)] }, { width: 400, height: 300 });
    const { document } = parseHTML(svg);
    const heights = (label: string) =>
      (document.querySelector(`[aria-label="${label}"] path`)!.getAttribute('d') as string)
        .match(/-?[\d.]+,-?[\d.]+/g)!
        .map((point) => Number(point.split(',')[1]));
    const line = heights('line');
    // The axis runs from 0 at the first point's height to 4 (the band's top); the mean of 2 and 4 is 3.
    const highest = Math.min(...heights('area'));
    expect((line[0] - line.at(-1)!) / (line[0] - highest)).toBeCloseTo(3 / 4, 3);
  });

  it('takes one seed, one point, and a metric with gaps', async () => {
    await expect(learningCurves({ a: [{ steps: [5], values: [1] }] })).resolves.toContain('<svg');
    await expect(learningCurves({ a: [{ steps: [1, 2, 3], values: [1, Number.NaN, 2] }] })).resolves.toContain('<svg');
    await expect(learningCurves({ a: [{ steps: [1], values: [Number.NaN] }] })).rejects.toThrow(/not NaN/);
    await expect(learningCurves({}, { tilte: 'x' } as object)).rejects.toThrow(/unknown option "tilte"/);
  });
});

describe('the other figures', () => {
  it('box plots show every seed and the median', async () => {
    const svg = await boxPlot({ own: [1, 2, 3, 4, 10], shared: [2, 2] }, { references: { bar: 2.75 } });
    const { document } = parseHTML(svg);
    expect(document.querySelectorAll('[aria-label="dot"] circle').length).toBeGreaterThanOrEqual(7);
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['own', 'shared', 'bar']));
  });

  it('bars have whiskers where there is an interval', async () => {
    const svg = await barChart({ a: { value: 2, lower: 1, upper: 3, count: 5 }, b: 1 });
    const { document } = parseHTML(svg);
    expect(document.querySelectorAll('[aria-label="bar"] rect')).toHaveLength(2);
    // One whisker and the line at zero.
    expect(document.querySelectorAll('[aria-label="rule"] line')).toHaveLength(2);
  });

  it('heat maps write the numbers into the cells', async () => {
    const svg = await heatMap({
      rows: ['a', 'b'],
      columns: ['x', 'y'],
      values: [
        [1, 2.5],
        [Number.NaN, -1],
      ],
    });
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['a', 'b', 'x', 'y', '1.00', '2.50', '-1.00']));
    await expect(heatMap({ rows: ['a'], columns: ['x', 'y'], values: [[1]] })).rejects.toThrow(/1 rows of 2 values/);
  });

  it('parallel coordinates: a line for each row, at heights by value, logarithm or name, with gaps', async () => {
    const axes = ['rate', 'kind', 'return'];
    const rows = [
      [0.001, 'a', 1],
      [0.01, 'b', 3],
      [0.1, null, 2],
    ];
    const svg = await parallelCoordinates({ axes, rows }, { height: 300 });
    expect(textsOf(svg)).toEqual(expect.arrayContaining([...axes, '0.001', '0.01', '0.1', 'a', 'b', '1', '2', '3']));
    const { document } = parseHTML(svg);
    const paths = [...document.querySelectorAll('[aria-label="line"] path')].map((path) => path.getAttribute('d')!);
    const heights = paths.map((d) => [...d.matchAll(/,([\d.]+)/g)].map(([, y]) => Number(y)));
    expect(heights.map((line) => line.length)).toEqual([3, 3, 2]);
    const [[low], [middle], [high]] = heights; // of the rate: equal ratios are equal distances
    expect(middle - high).toBeCloseTo(low - middle, 6);
    expect(low).toBeGreaterThan(high);
    expect(heights[0][1] - heights[1][1]).toBeCloseTo(low - high, 6); // both names at the ends
    expect(heights[2][1]).toBeCloseTo(middle, 6); // a return of 2 lies between 1 and 3
    expect(
      new Set([...document.querySelectorAll('[aria-label="line"] path')].map((p) => p.getAttribute('stroke'))).size,
    ).toBe(3);
    // The key: the last axis in the colours of the lines.
    const key = [...document.querySelectorAll('g[stroke-width="8"] line')].map((line) => line.getAttribute('stroke'));
    expect(new Set(key).size).toBeGreaterThan(30);
    const many = Array.from({ length: 6 }, (_, i) => [3 * 10 ** -i, 'a', i]);
    const log = await parallelCoordinates({ axes, rows: many, scales: { rate: 'log' } }, { height: 300 });
    expect(textsOf(log)).toEqual(
      expect.arrayContaining(['3', '1', '0.1', '0.01', '0.001', '0.0001', '0.00003', '2.5']),
    );
    const linear = await parallelCoordinates(
      { axes, rows, scales: { rate: 'linear', return: 'log' } },
      { height: 300 },
    );
    const lines = [...parseHTML(linear).document.querySelectorAll('[aria-label="line"] path')];
    const [[a], [b], [c]] = lines.map((path) =>
      [...path.getAttribute('d')!.matchAll(/,([\d.]+)/g)].map(([, y]) => Number(y)),
    );
    expect((a - b) / (a - c)).toBeCloseTo(0.009 / 0.099, 3); // 0.001, 0.01 and 0.1 on a linear axis
    await expect(parallelCoordinates({ axes, rows: [[0, 'a', 1]], scales: { rate: 'log' } })).rejects.toThrow(
      /numbers above 0 on the logarithmic axis rate, got 0/,
    );
    await expect(parallelCoordinates({ axes, rows: [[1, 2]] })).rejects.toThrow(
      /3 values in each row.*\[1,2\] in row 0/,
    );
    await expect(parallelCoordinates({ axes, rows: [[1, 2, 'x']] })).rejects.toThrow(/a number or null in the last/);
    await expect(parallelCoordinates({ axes: ['a', 'a'], rows: [[1, 2]] })).rejects.toThrow(/names that differ/);
  });

  it('is a whole SVG file with any text in its labels', async () => {
    const nasty = '</text><script>alert(1)</script>&"\'\u0000\u001b\ud800\uffff\u2028';
    const svg = await heatMap({ rows: [nasty], columns: [`${nasty} x`], values: [[1]] });
    expect(svg).not.toContain('<script');
    // Resvg reads strict XML: it refuses a file with one wrong character.
    await expect(toPng(svg)).resolves.toBeInstanceOf(Uint8Array);
  });
});

describe('toPng', () => {
  const draw = (text: string) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="30"><rect width="120" height="30" fill="#ffffff"/>
     <text x="5" y="20" font-family="Arimo, Arial" font-size="14" fill="#000000">${text}</text></svg>`;

  /** Dark pixels of an image, counted without the library's font settings: the PNG is put into another picture. */
  function inkOf(png: Uint8Array): number {
    const href = `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
    const size = 'width="120" height="30"';
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image href="${href}" ${size}/></svg>`;
    const { pixels } = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
    let ink = 0;
    for (let i = 0; i < pixels.length; i += 4) if (pixels[i] < 128) ink++;
    return ink;
  }

  it('shows text without any font of the system', async () => {
    expect(inkOf(await toPng(draw('')))).toBe(0);
    expect(inkOf(await toPng(draw('Return 2.86')))).toBeGreaterThan(100);
  });

  it('gives the same bytes each time, at the asked size', async () => {
    const svg = await learningCurves({ a: [curve(1)] }, { width: 300, height: 200 });
    const png = await toPng(svg);
    expect(sizeOfPng(png)).toEqual([600, 400]);
    expect(sizeOfPng(await toPng(svg, { zoom: 1 }))).toEqual([300, 200]);
    expect(Buffer.from(png).equals(await toPng(svg))).toBe(true);
    await expect(toPng(svg, { zoom: 0 })).rejects.toThrow(/toPng: option zoom/);
  });

  it('is written next to the SVG', async () => {
    const path = join(temporaryDirectory(), 'figures', 'curve');
    const svg = await learningCurves({ a: [curve(1)] });
    await writeFigure(path, svg);
    expect(readFileSync(`${path}.svg`, 'utf8')).toBe(svg);
    expect(readFileSync(`${path}.png`).subarray(1, 4).toString()).toBe('PNG');
  });
});

describe('toGif', () => {
  const picture = (width: number, colour: string) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="8"><rect width="${width}" height="8" fill="${colour}"/></svg>`;

  it('is a GIF that repeats, with a picture for each text and its time in hundredths of a second', async () => {
    const gif = Buffer.from(await toGif([picture(16, '#ff0000'), picture(16, '#00ff00')], { milliseconds: 250 }));
    expect(gif.subarray(0, 6).toString()).toBe('GIF89a');
    expect([gif.readUInt16LE(6), gif.readUInt16LE(8)]).toEqual([16, 8]);
    expect(gif.includes('NETSCAPE2.0')).toBe(true);
    // Graphic control extensions (GIF89a, section 23): 21 F9 04, flags, delay.
    const extension = Buffer.from([0x21, 0xf9, 0x04]);
    const delays: number[] = [];
    for (let at = gif.indexOf(extension); at >= 0; at = gif.indexOf(extension, at + 1))
      delays.push(gif.readUInt16LE(at + 4));
    expect(delays).toEqual([25, 100]);
    expect(gif.at(-1)).toBe(0x3b);
  });

  it('refuses no pictures, and pictures of several sizes', async () => {
    await expect(toGif([])).rejects.toThrow(/toGif: svgs: expected one picture or more/);
    await expect(toGif([picture(16, 'red'), picture(8, 'red')])).rejects.toThrow(
      /pictures of 16 x 8, got 8 x 8 in picture 1/,
    );
  });
});
