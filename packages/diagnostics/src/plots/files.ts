import { checkOptions } from '@coplay/core';
import { writeWhole } from '@coplay/core/node';
import { z } from 'zod';
import { fontFiles } from './fonts';

/** Options of {@link toPng} and {@link writeFigure}. */
export interface PngOptions {
  /** Pixels of PNG for each pixel of SVG; positive. Default 2 */
  readonly zoom?: number;
}

const schema = z.object({ zoom: z.number().positive().max(16).default(2) }).strict();

/** Renders SVG text to the bytes of a PNG file. Needs no browser and no fonts of the system. */
export async function toPng(svg: string, options: PngOptions = {}): Promise<Uint8Array> {
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
  const png = await toPng(svg, options);
  const place = { where: 'writeFigure', makeFolder: true };
  await writeWhole(`${path}.svg`, svg, place);
  await writeWhole(`${path}.png`, png, place);
}
