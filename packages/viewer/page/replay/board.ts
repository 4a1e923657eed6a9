import type { Scene } from '@coplay/core';
import { sceneSvg } from '@coplay/envs';

/** Colour of the mark in cells that differ; its dashes and sign tell it without the colour too. */
const MARK = '#b3005e';

/** A picture of a board, with a dashed frame and a sign in the cells that differ from another one. */
export function boardSvg(scene: Scene, title: string, differing: readonly number[], cellSize: number): string {
  const marks = differing.map((cell) => {
    const x = (cell % scene.columns) * cellSize;
    const y = Math.floor(cell / scene.columns) * cellSize;
    const frame = `x="${x + 1.5}" y="${y + 1.5}" width="${cellSize - 3}" height="${cellSize - 3}"`;
    const size = Math.max(10, cellSize * 0.36);
    const sign = `x="${x + cellSize - 3}" y="${y + size}" font-size="${size}" text-anchor="end"`;
    return `<rect ${frame} fill="none" stroke="${MARK}" stroke-width="3" stroke-dasharray="5 3"/><text ${sign} font-family="sans-serif" font-weight="bold" fill="${MARK}" stroke="#fff" stroke-width="3" paint-order="stroke">≠</text>`;
  });
  const svg = sceneSvg(scene, title.replaceAll('\n', ' '), cellSize);
  return marks.length === 0 ? svg : svg.replace(/<\/svg>\s*$/, `${marks.join('\n')}\n</svg>\n`);
}

/** Cell size that makes a board about as wide as asked. */
export function cellSizeFor({ rows, columns }: Scene, pixels: number): number {
  return Math.max(8, Math.min(80, Math.floor(pixels / Math.max(rows, columns))));
}
