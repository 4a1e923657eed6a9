import { countOf, type Grid, type Kind, OBSTACLES, type Place, textFromThings, thingsFromText } from '../game';

/** A state as lists of places `[row, column]`, both from 0: needed where several things share a cell. */
export interface StagHuntLayout {
  /** [A] the place of each agent, null for one that has left. Agents may share a cell with each other and with prey */
  readonly agents: readonly (Place | null)[];
  /** Obstacles, stags and hares stand on different cells. None by default; any number of each */
  readonly obstacles?: readonly Place[] | undefined;
  readonly stags?: readonly Place[] | undefined;
  readonly hares?: readonly Place[] | undefined;
  /** Steps done in the episode, 0 to maxSteps. Default 0 */
  readonly steps?: number | undefined;
  /** The step of the first catch, 1 to `steps`, with the option `stepsAfterFirstHunt`; 0 (default) if there was none */
  readonly firstCatch?: number | undefined;
  /** [A] each agent's previous action, null for none, with the option `previousActions`. Default: nothing */
  readonly previousActions?: readonly (number | null)[] | undefined;
}

/** What lies on the map. */
export const KINDS: readonly Kind<'obstacles' | 'stags' | 'hares'>[] = [
  OBSTACLES,
  { name: 'stags', item: 'stag', symbol: 'S' },
  { name: 'hares', item: 'hare', symbol: 'h' },
];
const NOTES = ['steps', 'left', 'firstCatch', 'previousActions'];

/**
 * The text form of a layout: a map of `.` free, `#` obstacle, `S` stag, `h` hare and `1`..`8` agents, and below it,
 * where needed, the lines `steps: 12`, `left: 2 4` (agents that aren't on the map any more), `firstCatch: 9` and
 * `previousActions: 0 - 4 -`. Text that begins with `{` is JSON of the object form.
 *
 * @returns the object form; its values are still to be checked
 */
export function layoutFromText(where: string, text: string, agents: number, grid: Grid): unknown {
  const left = (notes: ReadonlyMap<string, string>) => words(notes.get('left'));
  const { places, notes } = thingsFromText(where, text, agents, grid, KINDS, NOTES, left);
  const number = (name: string) => (notes.has(name) ? { [name]: countOf(notes.get(name) as string) } : {});
  return {
    ...places,
    ...number('steps'),
    ...number('firstCatch'),
    ...(notes.has('previousActions') && {
      previousActions: words(notes.get('previousActions')).map((word) => (word === '-' ? null : countOf(word))),
    }),
  };
}

/** The text form, or undefined where two things share a cell. */
export function textFromLayout(layout: StagHuntLayout, grid: Grid): string | undefined {
  const { agents, steps, firstCatch, previousActions } = layout;
  const map = textFromThings(layout, KINDS, grid);
  if (map === undefined) return undefined;
  const left = agents.flatMap((place: Place | null, i) => (place ? [] : [String(i + 1)]));
  const lines = [map];
  if (steps) lines.push(`steps: ${steps}`);
  if (left.length > 0) lines.push(`left: ${left.join(' ')}`);
  if (firstCatch) lines.push(`firstCatch: ${firstCatch}`);
  if (previousActions) lines.push(`previousActions: ${previousActions.map((action) => action ?? '-').join(' ')}`);
  return lines.join('\n');
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
