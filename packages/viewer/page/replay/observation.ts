import type { ObservationField } from '@coplay/core';
import type { Recording } from '@coplay/envs';
import { html, setText } from '../dom';
import { shortNumber } from './bars';
import { type ChannelPair, channelPairs, isPlanes } from './differences';
import { countOf, planeFigure } from './planes';
import type { View } from './view';

/**
 * An agent's observation, channel by channel, next to a model's prediction of it; undefined where it wasn't recorded.
 */
export function observationView({ observation, frames, steps }: Recording, seat: number): View | undefined {
  if (!observation) return undefined;
  const summary = html('summary');
  const nothing = html('p', {}, 'It has left, and sees nothing.');
  const fields = Object.entries(observation).map(([name, field]) => fieldView(name, field));
  const shown = html('div', { class: 'channels' }, ...fields.map(({ element }) => element));
  const element = html('details', {}, summary, nothing, shown);
  let moment = 0;

  const known: (ChannelPair[][] | undefined)[] = [];
  const pairsAt = (t: number) => {
    if (!(t in known)) known[t] = compare(t);
    return known[t];
  };
  const compare = (t: number): ChannelPair[][] | undefined => {
    const seen = frames[t].observations?.[seat];
    const foretold = steps[t - 1]?.predicted?.observations?.[seat] ?? undefined;
    if (!seen) return undefined;
    return Object.entries(observation).map(([name, field]) =>
      channelPairs(name, field, seen[name] ?? [], foretold?.[name]),
    );
  };
  const draw = () => {
    const all = pairsAt(moment);
    nothing.hidden = all !== undefined;
    shown.hidden = all === undefined;
    const differing = (all ?? []).flat().filter((pair) => pair.differing.length > 0);
    const told = differing.map(({ name, differing: cells }) => `${name} ${cells.length}`).join(', ');
    setText(summary, differing.length > 0 ? `Sees; ≠ predicted otherwise: ${told}` : 'Sees');
    // Pictures that are hidden cost nothing.
    if (!all || !element.open) return;
    fields.forEach((field, i) => {
      field.draw(all[i]);
    });
  };
  element.addEventListener('toggle', draw);
  return {
    element,
    show(t) {
      moment = t;
      draw();
    },
  };
}

interface FieldView {
  readonly element: HTMLElement;
  draw(pairs: readonly ChannelPair[]): void;
}

function fieldView(name: string, field: ObservationField): FieldView {
  if (!isPlanes(field)) return vectorView();
  const figures = Array.from({ length: field.shape[2] }, () => planeFigure(field));
  const element = html('div', { class: 'planes', role: 'group', 'aria-label': name });
  element.append(...figures.map((figure) => figure.element));
  return {
    element,
    draw: (pairs) =>
      pairs.forEach((pair, c) => {
        figures[c].draw(pair);
      }),
  };
}

function vectorView(): FieldView {
  const element = html('p', { class: 'vector' });
  return {
    element,
    draw([{ name, actual, foretold, differing }]) {
      const list = (values: readonly number[]) => values.map(shortNumber).join(' ');
      const other = foretold
        ? `; predicted ${list(foretold)}; ${countOf(differing.length).replace('cell', 'number')}`
        : '';
      setText(element, `${name}: ${list(actual)}${other}`);
    },
  };
}
