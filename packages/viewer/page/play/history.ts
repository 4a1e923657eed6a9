import { encodeRecording, type Recording } from '@coplay/envs';
import { html } from '../dom';
import { rounded } from './panels';

/** A game that was played. */
export interface PlayedGame {
  readonly recording: Recording;
  readonly seed: number;
  /** The person's seat, from 0. */
  readonly seat: number;
}

/** The list of the games of this page. */
export interface History {
  readonly element: HTMLElement;
  add(game: PlayedGame): void;
}

/** An empty list. */
export function makeHistory(): History {
  const list = html('ul', { class: 'games' });
  const note = 'Played games stay in this page until it is closed. Save the games that you want to keep.';
  const element = html('section', { class: 'card', 'aria-label': 'Played games' });
  element.append(html('h2', {}, 'Played games'), html('p', { class: 'note' }, note), list);
  element.hidden = true;
  let count = 0;
  return {
    element,
    add(played) {
      const { recording, seed, seat } = played;
      count++;
      const name = `Game ${count}`;
      const earned = recording.steps.reduce((sum, { rewards }) => sum + rewards[seat], 0);
      const told = `${name}: ${recording.game}, seed ${seed}, ${recording.steps.length} steps, you earned ${rounded(earned)}`;
      const button = html('button', { type: 'button', 'aria-label': `Save ${name.toLowerCase()}` }, 'Save');
      button.addEventListener('click', () => void saveGame(played));
      list.prepend(html('li', {}, button, told));
      element.hidden = false;
    },
  };
}

/** Gives the browser the record of a game as a file, which `readRecording` of `@coplay/envs` reads. */
export async function saveGame({ recording, seed, seat }: PlayedGame): Promise<void> {
  const file = new Blob([(await encodeRecording(recording)) as Uint8Array<ArrayBuffer>], { type: 'application/gzip' });
  const link = html('a', {
    href: URL.createObjectURL(file),
    download: `${recording.game}-${recording.agents[seat]}-seed-${seed}.coplay`,
  });
  link.click();
  // The browser has to read it first.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
