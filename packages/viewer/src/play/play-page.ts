import { type AgentId, checkOptions } from '@coplay/core';
import { z } from 'zod';
import { wholePage } from '../whole-page';
import { playableGame } from './games';
import { PLAY_HASHES, PLAY_SCRIPT } from './generated/play-script';
import { STYLE } from './style';

/** A trained policy that the page offers for a seat. */
export interface PlayPolicy {
  /** The seat that it was trained for, one of the ids of the game. */
  readonly id: AgentId;
  /** For tables and recordings: `PPO after 150000 steps`. */
  readonly name: string;
  /** Address of the ONNX file, seen from the page: `models/0.onnx`. */
  readonly url: string;
}

/** A game that the page offers. */
export interface PlaySetting {
  /** In the list of games. */
  readonly title: string;
  /** `stag-hunt` or `snowdrift` */
  readonly game: string;
  /** Options of `stagHunt()` or `snowdrift()`. Default: none */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Trained co-players. Default: none, only rules play */
  readonly policies?: readonly PlayPolicy[] | undefined;
}

/** Options of {@link playPage}. */
export interface PlayPageOptions {
  /**
   * Games to choose from, at least one. Default: stag hunts and snowdrift games of two sizes, with rule-based
   * co-players
   */
  readonly settings?: readonly PlaySetting[] | undefined;
  /**
   * Address of the folder `dist` of onnxruntime-web 1.30, ending in `/`; only read where a policy plays. Default `ort/`
   */
  readonly ort?: string | undefined;
}

/** The data for the page's script. */
export interface PlayData {
  readonly settings: readonly PlaySetting[];
  readonly ort: string;
}

/** Games without trained agents. */
const BY_RULES: readonly PlaySetting[] = [
  { title: 'Stag hunt, 4x4', game: 'stag-hunt', options: { size: 4, agents: 4, stags: 1, hares: 4 } },
  { title: 'Stag hunt, 8x8', game: 'stag-hunt' },
  { title: 'Snowdrift, 5x5', game: 'snowdrift', options: { size: 5, agents: 3, drifts: 4 } },
  { title: 'Snowdrift, 8x8', game: 'snowdrift' },
];

const schema = z.strictObject({
  settings: z
    .array(
      z.strictObject({
        title: z.string(),
        game: z.string(),
        options: z.record(z.string(), z.unknown()).optional(),
        policies: z
          .array(z.strictObject({ id: z.string(), name: z.string(), url: z.string() }))
          .readonly()
          .optional(),
      }),
    )
    .min(1)
    .readonly()
    .default(BY_RULES),
  ort: z.string().endsWith('/').default('ort/'),
});

/** What plays policies comes from the page's own server. */
const SOURCES = { script: "'self' 'wasm-unsafe-eval'", more: "connect-src 'self'" };

/**
 * A page on which a person takes a seat in a game, with rule-based and trained agents in the others. The HTML needs no
 * other files, except for policies: their files and the files of onnxruntime-web, from the same server; `coplay play`
 * is such a server.
 *
 * @returns the HTML
 * @throws CoplayError for unknown options, or games that the page doesn't have
 */
export function playPage(options: PlayPageOptions = {}): string {
  const data: PlayData = checkOptions('playPage', schema, options);
  for (const { game, options: rules } of data.settings) playableGame(game, rules);
  // A `<` can't end the element that the JSON stands in when it's written so, nor begin a comment.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
  return wholePage({
    title: 'Play with agents - Coplay',
    heading: 'Play with agents',
    hashes: PLAY_HASHES,
    sources: SOURCES,
    style: STYLE,
    noScript: 'Playing needs JavaScript.',
    main: `<main></main>\n<script type="application/json" id="coplay-play">${json}</script>`,
    script: PLAY_SCRIPT,
  });
}
