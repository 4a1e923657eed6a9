import { type ArrayOf, checkOptions, type DType, type Game } from '@coplay/core';
import { z } from 'zod';
import { sceneOf } from './scene-of';
import { sceneSvg } from './scene-svg';

/** Options of {@link renderSvg}. */
export interface SvgOptions {
  /** Width and height of a cell in pixels, 8 to 400. Default 40 */
  readonly cellSize?: number | undefined;
  /** The picture's title for screen readers. Default: the game's name and the step */
  readonly title?: string | undefined;
}

const schema = z.object({ cellSize: z.number().min(8).max(400).default(40), title: z.string().optional() }).strict();

/**
 * A state as an SVG picture: agents are numbered circles in their colours, obstacles fill their cells, everything else
 * is a square with its symbol; several things in a cell share it.
 *
 * @returns the text of an SVG file
 * @throws CoplayError for a game without scenes, or bad options
 */
export function renderSvg<State extends DType>(
  game: Game<State>,
  state: ArrayOf<State>,
  offset = 0,
  options: SvgOptions = {},
): string {
  const { cellSize, title } = checkOptions('renderSvg', schema, options);
  const scene = sceneOf('renderSvg', game, state, offset);
  return sceneSvg(scene, title ?? `${game.name}, step ${game.elapsed(state, offset)}`, cellSize);
}
