import { type ActionSpaces, checkGame, type DType, type Game, type ObservationField } from '@coplay/core';
import { allocateObservations, kindOf, sizeOf } from '@coplay/core/arrays';
import { wrap, wrapOptions } from './wrap';

/**
 * Shows all fields of the observation as one, `flat` float32 [F]: the fields in their order, each row by row, indices
 * as one-hots (`FlattenObservation` of Gymnasium). Its kind is `planes` where all numbers are zeros and ones, else
 * `vector`.
 *
 * Networks of this library flatten by themselves. Use it for code that takes one vector.
 */
export function flattenObservations<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
): Game<State, Spaces> {
  checkGame('flattenObservations', game, 'any');
  const fields = Object.entries(game.observation).map(([name, field]) => {
    const classes = kindOf(field) === 'indices' ? (field.classes as number) : 1;
    return { name, size: sizeOf(field.shape), classes };
  });
  const F = fields.reduce((sum, { size, classes }) => sum + size * classes, 0);
  const one = allocateObservations(game.observation, 1);
  const areFlags = Object.values(game.observation).every((field) => {
    return kindOf(field) !== 'vector' && kindOf(field) !== 'image';
  });
  const flat: ObservationField = { shape: [F], dtype: 'float32', kind: areFlags ? 'planes' : 'vector' };

  return wrap(game, {
    observation: { flat },
    options: wrapOptions(game, 'flattenObservations', true),
    ...(game.observesState && { observesState: true }),
    observe(state, offset, agent, out, row) {
      game.observe(state, offset, agent, one, 0);
      const to = out['flat'];
      let at = row * F;
      to.fill(0, at, at + F);
      for (let f = 0; f < fields.length; f++) {
        const { name, size, classes } = fields[f];
        const from = one[name];
        if (classes === 1) to.set(from, at);
        else for (let i = 0; i < size; i++) to[at + i * classes + from[i]] = 1;
        at += size * classes;
      }
    },
  });
}
