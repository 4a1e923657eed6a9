import type { Game } from '@coplay/core';
import { html } from '../dom';
import { type ActionKey, keysOf } from './keys';

/** A button for each action, arranged as the keys are. */
export interface Pad {
  readonly element: HTMLElement;
  /** Allows the actions whose mask is 1; none without a mask. */
  allow(mask?: Uint8Array): void;
  /** The action of a key, if it has one. */
  actionOf(key: string): number | undefined;
}

/** Makes the buttons of a game. */
export function makePad({ actionNames }: Game, press: (action: number) => void): Pad {
  const keys = keysOf(actionNames);
  const buttons = actionNames.map((name, action) => button(name, keys[action], () => press(action)));
  const [moves, deeds] = [buttons.slice(0, 5), buttons.slice(5)];
  return {
    element: html(
      'div',
      { class: 'pad', role: 'group', 'aria-label': 'Actions' },
      ...moves,
      html('div', { class: 'deeds' }, ...deeds),
    ),
    allow(mask) {
      buttons.forEach((one, action) => {
        one.disabled = mask?.[action] !== 1;
      });
    },
    actionOf(key) {
      const action = keys.findIndex((one) => one.key === key);
      return action < 0 ? undefined : action;
    },
  };
}

function button(name: string, { label }: ActionKey, press: () => void): HTMLButtonElement {
  const element = html('button', { type: 'button', 'data-move': name }, `${name} `, html('kbd', {}, label));
  element.addEventListener('click', press);
  return element;
}
