import { fail, type Scene, type SceneItem, show } from '@coplay/core';
import { checkNumber, escapeMarkup } from '@coplay/core/checks';
import { agentIndex, checkScene, itemsByCell } from './cells';
import { colorOf, inkOn } from './colors';

/**
 * The picture of a scene that is there already, such as a recording's; see {@link renderSvg}.
 *
 * @param title     its title for screen readers
 * @param cellSize  width and height of a cell in pixels, above 0
 * @returns the text of an SVG file
 */
export function sceneSvg(scene: Scene, title: string, cellSize = 40): string {
  checkScene('sceneSvg', scene);
  if (typeof title !== 'string') fail('sceneSvg: title', 'a text', show(title), 'Say what the picture shows.');
  checkNumber('sceneSvg', 'cellSize', cellSize, { above: 0 });
  const width = scene.columns * cellSize;
  const height = scene.rows * cellSize;
  const cells = itemsByCell(scene).map((items, cell) => {
    const x = (cell % scene.columns) * cellSize;
    const y = Math.floor(cell / scene.columns) * cellSize;
    return drawCell(items, x, y, cellSize);
  });
  // Half a pixel of margin for the lines of the border.
  const viewBox = `-0.5 -0.5 ${width + 1} ${height + 1}`;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="${viewBox}">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<desc>${escapeMarkup(describe(scene))}</desc>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...cells.flat(),
    `<path d="${gridPath(scene, cellSize)}" fill="none" stroke="#ccc"/>`,
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

/** What lies in one cell: an obstacle fills it, everything else stands side by side in parts of it. */
function drawCell(items: readonly SceneItem[], x: number, y: number, size: number): string[] {
  const ground = items.filter(isObstacle).map((item) => {
    return `<rect x="${x}" y="${y}" width="${size}" height="${size}" fill="${colorOf(item)}"/>`;
  });
  const things = items.filter((item) => !isObstacle(item));
  const columns = Math.ceil(Math.sqrt(things.length));
  const rows = Math.ceil(things.length / columns);
  const part = size / columns;
  const top = y + (size - rows * part) / 2;
  const drawn = things.map((item, i) => {
    const row = Math.floor(i / columns);
    return drawThing(item, x + ((i % columns) + 0.5) * part, top + (row + 0.5) * part, part * 0.4);
  });
  return [...ground, ...drawn];
}

function isObstacle({ kind }: SceneItem): boolean {
  return kind === 'obstacle';
}

/** A circle for an agent, a square for anything else, and its symbol. */
function drawThing(item: SceneItem, x: number, y: number, radius: number): string {
  const color = colorOf(item);
  const side = short(radius * 2);
  const isAgent = agentIndex(item) !== undefined;
  const circle = `<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" fill="${color}"/>`;
  const corner = `x="${short(x - radius)}" y="${short(y - radius)}" rx="${short(radius / 3)}"`;
  const square = `<rect ${corner} width="${side}" height="${side}" fill="${color}"/>`;
  // Capitals reach 0.7 of the font size above the baseline: half of that below the middle centres them.
  const size = radius * 1.2;
  const font = `font-family="sans-serif" font-weight="bold" font-size="${short(size)}" text-anchor="middle"`;
  const place = `x="${short(x)}" y="${short(y + size * 0.35)}"`;
  return `${isAgent ? circle : square}<text ${place} ${font} fill="${inkOn(color)}">${escapeMarkup(item.symbol)}</text>`;
}

/** A number with at most two decimals. */
function short(value: number): string {
  return String(Number(value.toFixed(2)));
}

function gridPath({ rows, columns }: Scene, size: number): string {
  const across = Array.from({ length: rows + 1 }, (_, row) => `M0 ${row * size}H${columns * size}`);
  const down = Array.from({ length: columns + 1 }, (_, column) => `M${column * size} 0V${rows * size}`);
  return [...across, ...down].join('');
}

/** In words: the place of each item, and the number of obstacles. Rows and columns from 1. */
function describe({ rows, columns, items }: Scene): string {
  const obstacles = items.filter(isObstacle).length;
  const things = items
    .filter((item) => !isObstacle(item))
    .map(
      ({ kind, symbol, row, column }) =>
        `${kind === 'agent' ? `agent ${symbol}` : kind} in row ${row + 1}, column ${column + 1}`,
    );
  const ground = `A grid of ${rows} rows and ${columns} columns${obstacles > 0 ? ` with ${obstacles} obstacle cells` : ''}`;
  return things.length > 0 ? `${ground}: ${things.join('; ')}.` : `${ground}.`;
}
