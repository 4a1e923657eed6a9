import { checkOptions, fail, show } from '@coplay/core';
import { checkText } from '@coplay/core/checks';
import { writeWhole } from '@coplay/core/node';
import { z } from 'zod';
import { fontFiles } from './fonts';

/** Options of {@link toPng} and {@link writeFigure}. */
export interface PngOptions {
  /** Pixels of PNG for each pixel of SVG; positive. Default 2 */
  readonly zoom?: number;
}

const schema = z.object({ zoom: z.number().positive().max(16).default(2) }).strict();

function checkSvg(where: string, svg: string): void {
  if (typeof svg === 'string' && svg.includes('<svg')) return;
  fail(`${where}: svg`, 'a figure as SVG text', show(svg), 'Await the figure: await heatMap(data).');
}

/** Renders SVG text to the bytes of a PNG file. Needs no browser and no fonts of the system. */
export async function toPng(svg: string, options: PngOptions = {}): Promise<Uint8Array> {
  checkSvg('toPng', svg);
  const { zoom } = checkOptions('toPng', schema, options);
  return (await rendered(svg, zoom)).asPng();
}

/** Options of {@link toGif}. */
export interface GifOptions {
  /** Pixels of GIF for each pixel of SVG; positive. Default 1 */
  readonly zoom?: number;
  /** Milliseconds that each picture stays, at least 20. The last one stays four times as long. Default 400 */
  readonly milliseconds?: number;
}

const gifSchema = z.strictObject({
  zoom: z.number().positive().max(16).default(1),
  milliseconds: z.number().min(20).max(60_000).default(400),
});

/**
 * Renders pictures of equal size, such as `sceneSvg` of each step of an episode, to the bytes of an animated GIF, which
 * begins anew at its end.
 *
 * @param svgs  SVG texts, one or more
 * @throws CoplayError for no pictures, or one of another size than the first
 */
export async function toGif(svgs: readonly string[], options: GifOptions = {}): Promise<Uint8Array> {
  const { zoom, milliseconds } = checkOptions('toGif', gifSchema, options);
  if (!Array.isArray(svgs) || svgs.length === 0)
    fail('toGif: svgs', 'one picture or more', show(svgs), 'Give SVG texts.');
  const frames: { data: Uint8ClampedArray<ArrayBuffer>; width: number; height: number; delay: number }[] = [];
  for (const [i, svg] of svgs.entries()) {
    checkSvg('toGif', svg);
    const { pixels, width, height } = await rendered(svg, zoom);
    if (i > 0 && (width !== frames[0].width || height !== frames[0].height)) {
      const got = `${width} x ${height} in picture ${i}`;
      fail('toGif: svgs', `pictures of ${frames[0].width} x ${frames[0].height}`, got, 'Draw all in one size.');
    }
    const delay = i === svgs.length - 1 ? 4 * milliseconds : milliseconds;
    frames.push({ data: new Uint8ClampedArray(pixels), width, height, delay });
  }
  const { encode } = await import('modern-gif');
  const [{ width, height }] = frames;
  return new Uint8Array(await encode({ width, height, frames, looped: true }));
}

async function rendered(svg: string, zoom: number) {
  const { Resvg } = await import('@resvg/resvg-js');
  return new Resvg(svg, {
    fitTo: { mode: 'zoom', value: zoom },
    // Only the same fonts everywhere give the same pixels everywhere.
    font: { loadSystemFonts: false, fontFiles: fontFiles(), defaultFontFamily: 'Arimo' },
  }).render();
}

/**
 * Writes a figure as `path.svg` and `path.png`; the folder is made where there is none.
 *
 * @param path  without extension
 */
export async function writeFigure(path: string, svg: string, options: PngOptions = {}): Promise<void> {
  checkText('writeFigure', 'path', path);
  checkSvg('writeFigure', svg);
  checkOptions('writeFigure', schema, options);
  const png = await toPng(svg, options);
  const place = { where: 'writeFigure', makeFolder: true };
  await writeWhole(`${path}.svg`, svg, place);
  await writeWhole(`${path}.png`, png, place);
}
