import { checkOptions, fail } from '@coplay/core';
import { escapeMarkup } from '@coplay/core/checks';
import { checkRecording, encodeRecording, type Recording } from '@coplay/envs';
import { z } from 'zod';
import { wholePage } from '../whole-page';
import { REPLAY_HASHES, REPLAY_SCRIPT } from './generated/replay-script';
import { STYLE } from './style';

/** Options of {@link replayPage}. */
export interface ReplayPageOptions {
  /** Heading of the page. Default: the name of the game */
  readonly title?: string | undefined;
}

const schema = z.strictObject({ title: z.string().optional() });

/**
 * A page that plays recorded episodes, as HTML that needs no other file and no network: the board, each agent's
 * observations, choices and beliefs, and a world model's predictions, as far as they were recorded.
 *
 * @param recordings  one episode, or several to choose from
 * @returns the HTML
 * @throws CoplayError for no recordings, damaged ones, or wrong options
 */
export async function replayPage(
  recordings: Recording | readonly Recording[],
  options: ReplayPageOptions = {},
): Promise<string> {
  const { title } = checkOptions('replayPage', schema, options);
  const all: readonly Recording[] = Array.isArray(recordings) ? Array.from(recordings) : [recordings as Recording];
  if (all.length === 0) fail('replayPage', 'one recording or more', 'none', 'Record one with recordEpisode().');
  const embedded = await Promise.all(all.map((recording, i) => embed(checkRecording('replayPage', recording), i)));
  const heading = escapeMarkup(title ?? [...new Set(all.map(({ game }) => game))].join(', '));
  return wholePage({
    title: `${heading} - Coplay replay`,
    heading,
    hashes: REPLAY_HASHES,
    style: STYLE,
    noScript: 'Replays need JavaScript.',
    main: `<main class="coplay-replays" data-keys="page">\n${embedded.join('\n')}\n</main>`,
    script: REPLAY_SCRIPT,
  });
}

async function embed(recording: Recording, i: number): Promise<string> {
  const { game, players, steps } = recording;
  const title = `${i + 1}: ${game}, ${steps.length} steps, ${[...new Set(players)].join(', ')}`;
  const packed = base64(await encodeRecording(recording));
  return `<script type="application/gzip" data-coplay-replay="${escapeMarkup(title)}">${packed}</script>`;
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
