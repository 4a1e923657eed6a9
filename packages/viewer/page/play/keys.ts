/** Keys of the actions that all grid games have, and their names. */
const MOVES: Readonly<Record<string, readonly [key: string, label: string]>> = {
  up: ['ArrowUp', '↑'],
  down: ['ArrowDown', '↓'],
  left: ['ArrowLeft', '←'],
  right: ['ArrowRight', '→'],
  stay: [' ', 'space'],
};

/** Of the next game; no action gets it. */
export const NEXT_KEY = 'n';

/** The key of an action. */
export interface ActionKey {
  /** As events name it, in lower case where it's a letter. */
  readonly key: string;
  /** What stands on the key. */
  readonly label: string;
}

/**
 * A key for each action: arrows for moves, space to stay, else the first free letter of the last word (`hunt hare`: H).
 */
export function keysOf(actionNames: readonly string[]): readonly ActionKey[] {
  const taken = new Set([NEXT_KEY]);
  return actionNames.map((name) => {
    const move = MOVES[name];
    if (move) return { key: move[0], label: move[1] };
    const last = name.split(' ').at(-1) ?? '';
    const letter = [...`${last}${name}abcdefghijklmopqrstuvwxyz`].find((one) => /[a-z]/.test(one) && !taken.has(one))!;
    taken.add(letter);
    return { key: letter, label: letter.toUpperCase() };
  });
}
