import type { ArrayOf, DType, Game, Scene, SceneItem } from '@coplay/core';
import { checkOptions } from '@coplay/core';
import { z } from 'zod';
import { agentIndex, itemsByCell } from './cells';
import { sceneOf } from './scene-of';

/** Options of {@link renderText} and {@link renderReplay}. */
export interface TextOptions {
  /** Whether agents are coloured by ANSI escapes, for terminals. Default false */
  readonly color?: boolean;
}

const schema = z.strictObject({ color: z.boolean().optional() });

/** Refuses unknown options. */
export function checkTextOptions(where: string, options: TextOptions): void {
  checkOptions(where, schema, options);
}

/** Eight colours of terminals that can be told apart on black and on white: codes of bold text. */
const ANSI = ['34', '31', '32', '35', '36', '33', '94', '91'];
const EMPTY = '.';

/**
 * A state as text: one line a row and one column a cell, `.` where nothing is, all symbols where several things are.
 *
 * @throws CoplayError for a game without scenes
 */
export function renderText<State extends DType>(
  game: Game<State>,
  state: ArrayOf<State>,
  offset = 0,
  options: TextOptions = {},
): string {
  checkTextOptions('renderText', options);
  return sceneLines(sceneOf('renderText', game, state, offset), options).join('\n');
}

/** How many things the fullest cell of a scene holds; at least 1. */
export function cellWidth(scene: Scene): number {
  return Math.max(1, ...itemsByCell(scene).map((items) => items.length));
}

/** The lines of a scene, one a row. Columns are `width` characters wide: by default as the fullest cell needs. */
export function sceneLines(scene: Scene, options: TextOptions = {}, width = cellWidth(scene)): string[] {
  const color = options?.color ?? false;
  const cells = itemsByCell(scene);
  const draw = (items: readonly SceneItem[]) => {
    const picture = items.length > 0 ? items.map((item) => symbolOf(item, color)).join('') : EMPTY;
    return picture + ' '.repeat(width - Math.max(1, items.length));
  };
  return Array.from({ length: scene.rows }, (_, row) =>
    cells
      .slice(row * scene.columns, (row + 1) * scene.columns)
      .map(draw)
      .join(' ')
      .trimEnd(),
  );
}

function symbolOf(item: SceneItem, color: boolean): string {
  const agent = agentIndex(item);
  return color && agent !== undefined ? paint(item.symbol, agent) : item.symbol;
}

/** Text in the colour of an agent. */
export function paint(text: string, agent: number): string {
  return `\u001b[1;${ANSI[agent % ANSI.length]}m${text}\u001b[0m`;
}

/** Number of characters that a text takes on the screen. */
export function visibleLength(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  return text.replace(/\u001b\[[\d;]*m/g, '').length;
}
