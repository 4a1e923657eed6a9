import { checkOptions } from '@coplay/core';
import { xmlCharacters } from '@coplay/core/checks';
import type { PlotOptions } from '@observablehq/plot';
import { z } from 'zod';
import { escapeHtml } from '../report/html';
import { FONT, INK } from './colours';

/** Options that all figures share. */
export interface FigureOptions {
  /** Above the figure. */
  readonly title?: string;
  /** Label of the horizontal axis. */
  readonly x?: string;
  /** Label of the vertical axis. */
  readonly y?: string;
  /** Pixels; at least 200. Default 720 */
  readonly width?: number;
  /** Pixels, legend and title included; at least 150. Default 420 */
  readonly height?: number;
}

/** The fields of {@link FigureOptions}, for the schemas of the figures. */
export const figureFields = {
  title: z.string().default(''),
  x: z.string().default(''),
  y: z.string().default(''),
  width: z.number().int().min(200).default(720),
  height: z.number().int().min(150).default(420),
};

const figureSchema = z.object(figureFields).strict();

/** Checks options of a figure that has no others. */
export function checkFigure(where: string, options: FigureOptions): Required<FigureOptions> {
  return checkOptions(where, figureSchema, options);
}

/** One entry of a legend. */
export interface LegendEntry {
  readonly label: string;
  readonly colour: string;
}

/** The module @observablehq/plot. It is an ES module only, and heavy: loaded when the first figure is drawn. */
export type Plot = typeof import('@observablehq/plot');

const MARGIN = 12;
const TITLE_HEIGHT = 26;
const LEGEND_HEIGHT = 22;

/**
 * Draws a figure: a title, a legend, and what `plot` describes.
 *
 * @returns SVG on a white ground, as text
 */
export async function drawFigure(
  options: Required<FigureOptions>,
  legend: readonly LegendEntry[],
  plot: (Plot: Plot) => PlotOptions,
): Promise<string> {
  const [Plot, { parseHTML }] = await Promise.all([import('@observablehq/plot'), import('linkedom')]);
  const { width, height, title } = options;
  const rows = layLegend(legend, width);
  const top = (title === '' ? MARGIN : MARGIN + TITLE_HEIGHT) + rows.length * LEGEND_HEIGHT;
  const { document } = parseHTML('<html></html>');
  const drawn = Plot.plot({
    width,
    height: height - top,
    marginTop: 30,
    marginLeft: 60,
    marginRight: 24,
    marginBottom: 46,
    ...plot(Plot),
    style: { fontFamily: FONT, fontSize: '12px', color: INK.text, background: INK.paper },
    document,
  });
  const heading = title === '' ? '' : text(MARGIN, MARGIN + 14, title, 'font-size="15" font-weight="bold"');
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}">`,
    `<rect width="${width}" height="${height}" fill="${INK.paper}"/>`,
    heading,
    ...drawLegend(rows, title === '' ? MARGIN : MARGIN + TITLE_HEIGHT),
    `<g transform="translate(0,${top})">${drawn.outerHTML}</g>`,
    '</svg>',
  ];
  // Plot's own texts are escaped, but hold any character.
  return xmlCharacters(`${parts.filter((part) => part !== '').join('\n')}\n`);
}

type PlacedEntry = LegendEntry & { readonly x: number };

/** Lays entries out in rows. */
function layLegend(legend: readonly LegendEntry[], width: number): PlacedEntry[][] {
  const rows: PlacedEntry[][] = [];
  let x = width;
  for (const entry of legend) {
    const size = 30 + textWidth(entry.label);
    if (x + size > width - MARGIN) {
      rows.push([]);
      x = MARGIN;
    }
    rows.at(-1)!.push({ ...entry, x });
    x += size + 14;
  }
  return rows;
}

function drawLegend(rows: readonly (readonly PlacedEntry[])[], top: number): string[] {
  return rows.flatMap((row, i) => {
    const y = top + i * LEGEND_HEIGHT + 8;
    return row.map(
      ({ label, colour, x }) =>
        `<rect x="${x}" y="${y - 2}" width="20" height="4" fill="${colour}"/>${text(x + 26, y + 4, label, 'font-size="12"')}`,
    );
  });
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" fill="${INK.text}" ${attributes}>${escapeHtml(content)}</text>`;
}

/** Pixels that text of 12 px takes in Arial, roughly. */
function textWidth(label: string): number {
  return label.length * 6.4;
}
