import { type ArrayOf, allocate, type Game, type Generator } from '@coplay/core';
import { stagHunt } from '@coplay/envs';

/**
 * The stag hunt on a board of which only a square is open, the rest being obstacles: its size is drawn for each
 * episode, and so is where it lies. Skills learned near others carry over to places far from them: a curriculum without
 * stages, on one board.
 *
 * @param size   of the board
 * @param sizes  of the open square, each with the same chance; `size` itself is the whole board with its usual
 *               obstacles
 */
export function arenas(size: number, sizes: readonly number[]): Game<'int32'> {
  const numbers = { agents: 4, stags: 1, hares: 4 };
  const whole = stagHunt({ size, ...numbers }) as unknown as Game<'int32'>;
  const parts = sizes.map((part) => {
    const game = stagHunt({ size: part, ...numbers, obstaclePieces: 0 });
    return { part, game, state: allocate(game.stateType, game.stateSize) };
  });
  return {
    ...whole,
    options: { ...whole.options, arenas: sizes },
    reset(state: ArrayOf<'int32'>, offset: number, generator: Generator) {
      const { part, game, state: inner } = parts[generator.integer(parts.length)];
      if (part === size) return whole.reset(state, offset, generator);
      game.reset(inner, 0, generator);
      const rows = game.writeLayout!(inner, 0).trim().split('\n');
      const [down, right] = [generator.integer(size - part + 1), generator.integer(size - part + 1)];
      const wall = '#'.repeat(size);
      const text = Array.from({ length: size }, (_, row) => {
        const inside = rows[row - down];
        return inside ? `${'#'.repeat(right)}${inside}${'#'.repeat(size - part - right)}` : wall;
      });
      whole.readLayout!(text.join('\n'), state, offset);
    },
  };
}
