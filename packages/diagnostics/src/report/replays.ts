import { gzipSync } from 'node:zlib';
import type { ReportExtras } from './extras';
import { REPLAY_SCRIPT } from './generated/replay-script';
import { escapeHtml } from './html';
import { section } from './sections';

/** Recorded episodes of all runs that have some, one of them shown at a time; empty where there are none. */
export function replaysSection(extras: readonly ReportExtras[], names: readonly string[]): string {
  const episodes = extras.flatMap(({ replays = {} }, run) =>
    Object.entries(replays).map(([title, recording]) => {
      const name = escapeHtml(extras.length > 1 ? `${names[run]}: ${title}` : title);
      const packed = gzipSync(JSON.stringify(recording)).toString('base64');
      return `<script type="application/gzip" data-coplay-replay="${name}">${packed}</script>`;
    }),
  );
  if (episodes.length === 0) return '';
  return section('replays', 'Replays', `<div class="coplay-replays">${episodes.join('\n')}</div>`);
}

/** The scripts that play them, where there are any. */
export function replaysScripts(replays: string): readonly string[] {
  return replays === '' ? [] : [REPLAY_SCRIPT];
}
