import type { SceneItem } from '@coplay/core';
import { checkNumber } from '@coplay/core/checks';
import { agentIndex } from './cells';

/** Agents 1 to 8: Okabe and Ito (2008), told apart by colour-blind people too. */
const AGENTS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#f0e442', '#000000'];
/** Other things; kinds that aren't listed are grey. */
const KINDS: Readonly<Record<string, string>> = {
  obstacle: '#444444',
  stag: '#8c510a',
  hare: '#bf9b6a',
  drift: '#9fc8e8',
  plants: '#4d9221',
  young: '#a6d96a',
  mature: '#1a9641',
  mark: '#f6c141',
  ball: '#c51b7d',
  landmark: '#777777',
  food: '#4d9221',
  pot: '#737373',
  onions: '#e8c16a',
  onion: '#e8c16a',
  dishes: '#c6dbef',
  dish: '#c6dbef',
  serving: '#a1d99b',
  soup: '#bf5b17',
  target: '#c51b7d',
};
const OTHER = '#999999';

/** The colour of a thing, as `#rrggbb`. */
export function colorOf(item: SceneItem): string {
  const agent = agentIndex(item);
  if (agent !== undefined) return agentColor(agent).fill;
  // A kind from a file may be called `constructor`.
  return Object.hasOwn(KINDS, item.kind) ? KINDS[item.kind] : OTHER;
}

/**
 * The colour of an agent on pictures, as `#rrggbb`, and black or white to write on it.
 *
 * @param index  from 0, in the order of `game.agents`
 */
export function agentColor(index: number): { readonly fill: string; readonly ink: string } {
  checkNumber('agentColor', 'index', index, { min: 0, whole: true });
  const fill = AGENTS[index % AGENTS.length];
  return { fill, ink: inkOn(fill) };
}

/** Black or white: the one with more contrast to a colour `#rrggbb`. */
export function inkOn(color: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
  return brightness > 145 ? '#000' : '#fff';
}
