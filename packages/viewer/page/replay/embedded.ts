import type { Recording } from '@coplay/envs';
import { html } from '../dom';
import { mountReplay } from './mount';

/**
 * An episode as it is embedded in a page: `<script type="application/gzip" data-coplay-replay="its title">`, base64 of
 * gzip of JSON.
 */
interface Embedded {
  readonly title: string;
  readonly packed: string;
}

/** Shows every `<div class="coplay-replays">` with the episodes embedded in it, one at a time. */
export async function showEmbedded(): Promise<void> {
  for (const place of document.querySelectorAll<HTMLElement>('.coplay-replays')) {
    const scripts = [...place.querySelectorAll<HTMLScriptElement>('script[data-coplay-replay]')];
    const episodes = scripts.map((script) => ({
      title: script.dataset['coplayReplay'] ?? '',
      packed: script.textContent ?? '',
    }));
    await showEpisodes(place, episodes);
  }
}

async function showEpisodes(place: HTMLElement, episodes: readonly Embedded[]): Promise<void> {
  const keys = place.dataset['keys'] === 'page' ? 'page' : 'element';
  const shown = html('div');
  let replay: ReturnType<typeof mountReplay> | undefined;
  const show = async (i: number) => {
    replay?.dispose();
    replay = undefined;
    shown.replaceChildren();
    try {
      replay = mountReplay(shown, await unpack(episodes[i].packed), { keys });
    } catch (error) {
      // A stranger's run may hold anything in the place of a recording.
      const words = `This episode can't be shown: ${(error as Error).message}`;
      shown.replaceChildren(html('p', { role: 'alert' }, words));
    }
  };
  if (episodes.length > 1) {
    const options = episodes.map(({ title }, i) => html('option', { value: i }, title));
    const choice = html('select', {}, ...options);
    choice.addEventListener('change', () => void show(Number(choice.value)));
    place.append(html('label', { class: 'coplay-episodes' }, 'Episode ', choice));
  }
  place.append(shown);
  if (episodes.length > 0) await show(0);
}

async function unpack(packed: string): Promise<Recording> {
  const bytes = Uint8Array.from(atob(packed.trim()), (character) => character.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(plain).json()) as Recording;
}
