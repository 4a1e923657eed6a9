import { html, setText } from '../dom';

/** A cell of a table with a bar of a share in [0, 1] and the number next to it. */
export interface BarCell {
  readonly element: HTMLTableCellElement;
  /** @param share undefined empties it; `text` defaults to the share with two decimals */
  set(share: number | undefined, text?: string): void;
}

/** Makes one. */
export function barCell(): BarCell {
  const bar = html('span', { class: 'track', 'aria-hidden': 'true' });
  const number = html('span', { class: 'number' });
  const element = html('td', { class: 'share' }, bar, number);
  return {
    element,
    set(share, text = share === undefined ? '' : share.toFixed(2)) {
      // The size of a background needs no new layout, unlike a width.
      bar.style.backgroundSize = `${100 * Math.min(1, Math.max(0, share ?? 0))}% 100%`;
      setText(number, text);
    },
  };
}

/** A number for people: at most three decimals, a sign that is a minus. */
export function shortNumber(value: number): string {
  return String(Number(value.toFixed(3))).replace('-', '−');
}
