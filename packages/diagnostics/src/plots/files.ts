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
  const { Resvg } = await import('@resvg/resvg-js');
  const rendered = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: zoom },
    // Only the same fonts everywhere give the same pixels everywhere.
    font: { loadSystemFonts: false, fontFiles: fontFiles(), defaultFontFamily: 'Arimo' },
  });
  return rendered.render().asPng();
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
