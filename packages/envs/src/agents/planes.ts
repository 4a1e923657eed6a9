import { type AgentInput, fail, type Game } from '@coplay/core';
import { kindOf } from '@coplay/core/arrays';
import { createGrid, type Grid } from '../game';

/**
 * How to read the planes of a grid game's observation: value of (row, cell, channel) at
 * `row * size + cell * C + channel`.
 */
export interface Planes {
  readonly grid: Grid;
  /** C */
  readonly channels: number;
  /** Values of one observation: cells * C */
  readonly size: number;
  /** Planes of the other agents. */
  readonly others: readonly number[];
  /** The plane of that name. @throws CoplayError if the game has none */
  channel(name: string): number;
  data(input: AgentInput): Uint8Array;
}

/** Finds the planes in a game's observation. @throws CoplayError for a game that isn't seen as planes */
export function planesOf(where: string, game: Game): Planes {
  const field = game.observation['planes'];
  const names = field?.channels;
  if (!field || !names || field.shape.length !== 3 || kindOf(field) !== 'planes') {
    const expected = 'a game that is seen as planes [H, W, C] with named channels';
    fail(
      where,
      expected,
      `${game.name}, seen as ${Object.keys(game.observation).join(', ')}`,
      'Use it in a game with such planes, or another agent ("Rule-based agents" in packages/envs/README.md).',
    );
  }
  const [rows = 0, columns = 0, channels = 0] = field.shape;
  return {
    grid: createGrid(rows, columns),
    channels,
    size: rows * columns * channels,
    others: names.flatMap((name, channel) => (name.startsWith('other') ? [channel] : [])),
    channel(name) {
      const channel = names.indexOf(name);
      if (channel < 0)
        fail(
          where,
          `a game with a plane of ${name}`,
          `planes of ${names.join(', ')}`,
          'Use another agent ("Rule-based agents" in packages/envs/README.md).',
        );
      return channel;
    },
    data: (input) => input.observations['planes'] as Uint8Array,
  };
}
