import type { ArrayOf, DType, Game } from '@coplay/core';
import { renderSvg } from '@coplay/envs';

/** Pixels of a cell in the drawing, which the page scales. */
const CELL = 60;

/** Draws a state, with a dashed frame around the person's cell. */
export function drawBoard(place: Element, game: Game, state: ArrayOf<DType>, seat: number): void {
  const drawn = new DOMParser().parseFromString(renderSvg(game, state, 0, { cellSize: CELL }), 'image/svg+xml');
  const svg = document.importNode(drawn.documentElement, true);
  const own = game.scene?.(state, 0).items.find(({ kind, symbol }) => kind === 'agent' && symbol === String(seat + 1));
  if (own) svg.append(frame(own.row, own.column));
  place.replaceChildren(svg);
}

function frame(row: number, column: number): SVGElement {
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  const attributes = {
    x: column * CELL + 2.5,
    y: row * CELL + 2.5,
    width: CELL - 5,
    height: CELL - 5,
    fill: 'none',
    stroke: '#000',
    'stroke-width': 3,
    'stroke-dasharray': '9 5',
  };
  for (const [name, value] of Object.entries(attributes)) rect.setAttribute(name, String(value));
  return rect;
}
