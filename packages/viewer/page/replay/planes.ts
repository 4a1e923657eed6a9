import type { ObservationField } from '@coplay/core';
import { html, setText } from '../dom';
import type { ChannelPair } from './differences';

/** Units of a cell of a plane. */
const CELL = 10;

/** Pictures of a channel as it was observed, and next to it as it was predicted. */
export interface PlaneFigure {
  readonly element: HTMLElement;
  draw(pair: ChannelPair): void;
}

/** Makes the pictures of one channel of planes [H, W, C]; they are drawn upon again in every step. */
export function planeFigure({ shape: [rows, columns] }: ObservationField): PlaneFigure {
  const [seen, foretold] = [picture(rows, columns), picture(rows, columns)];
  const caption = html('figcaption');
  const element = html('figure', { class: 'plane' }, html('div', { class: 'pair' }, seen, foretold), caption);
  let drawn = '';
  return {
    element,
    draw(pair) {
      // Most channels stay as they are from step to step, and drawing is what costs most.
      const now = `${pair.actual}|${pair.foretold}`;
      if (now === drawn) return;
      drawn = now;
      paint(seen, `${pair.name}, seen`, pair.actual, columns, pair.differing);
      foretold.classList.toggle('none', pair.foretold === undefined);
      if (pair.foretold) paint(foretold, `${pair.name}, predicted`, pair.foretold, columns, pair.differing);
      setText(caption, `${pair.name}${pair.foretold ? `: seen, predicted; ${countOf(pair.differing.length)}` : ''}`);
      element.classList.toggle('differs', pair.differing.length > 0);
    },
  };
}

/** `no cell differs`, `≠ 2 cells differ` */
export function countOf(differing: number): string {
  if (differing === 0) return 'no cell differs';
  return differing === 1 ? '≠ 1 cell differs' : `≠ ${differing} cells differ`;
}

function picture(rows: number, columns: number): SVGSVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  made.setAttribute('viewBox', `0 0 ${columns * CELL} ${rows * CELL}`);
  made.setAttribute('role', 'img');
  return made;
}

function paint(
  target: SVGSVGElement,
  name: string,
  values: readonly number[],
  columns: number,
  differing: readonly number[],
): void {
  const corner = (i: number, inset: number) =>
    `M${(i % columns) * CELL + inset} ${Math.floor(i / columns) * CELL + inset}`;
  const least = Math.min(0, ...values);
  const span = Math.max(1, ...values) - least;
  const shades = new Map<string, string>();
  values.forEach((value, i) => {
    const shade = ((value - least) / span).toFixed(2);
    if (Number(shade) > 0) shades.set(shade, `${shades.get(shade) ?? ''}${corner(i, 0.5)}h9v9h-9z`);
  });
  const filled = [...shades].map(([shade, path]) => `<path d="${path}" fill="#0a4d91" fill-opacity="${shade}"/>`);
  const crosses = differing.map((i) => `${corner(i, 1)}h8v8h-8zl8 8`).join('');
  target.innerHTML = `${filled.join('')}<path d="${crosses}" fill="none" stroke="#b3005e" stroke-width="1.6"/>`;
  target.setAttribute('aria-label', `${name}: ${placesOf(values, columns)}`);
}

/** In words: where a plane isn't 0. Rows and columns from 1. */
function placesOf(values: readonly number[], columns: number): string {
  const places = values.flatMap((value, i) =>
    value === 0 ? [] : [`row ${Math.floor(i / columns) + 1} column ${(i % columns) + 1}`],
  );
  if (places.length === 0) return 'nothing';
  return places.length > 12 ? `${places.length} cells` : places.join(', ');
}
