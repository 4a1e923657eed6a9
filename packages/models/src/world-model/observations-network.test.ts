import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import { snowdrift } from '@coplay/envs';
import { ensureBackend, tf } from '@coplay/tensor';
import { beforeAll, expect, it } from 'vitest';
import { mlp } from '../torso';
import { observationsNetwork } from './observations-network';
import { fieldModel } from './observed-fields';
import { observedGame, rowsOfStates, writeObserved } from './observed-game';

beforeAll(ensureBackend);

const tensors = (rows: NamedArrays) =>
  Object.fromEntries(
    Object.entries(rows).map(([name, { data, shape }]) => [name, tf.tensor(data as never, [...shape])]),
  );

it('takes the features of the next step as the body reads that step before anyone acts', () => {
  const cases = (['joint', 'own'] as const).flatMap((view) => [0, 1, 2].map((history) => ({ view, history })));
  for (const { view, history } of cases) {
    const game = observedGame(snowdrift({ size: 3, agents: 2, drifts: 2 }), view, history);
    const fields = Object.entries(game.observation).map(([name, field]) => fieldModel(name, field, 0.05));
    const network = observationsNetwork(game, fields, mlp({ hidden: [5] }), { history, historyUnits: 3 }, true);
    const params = tensors(network.init(createGenerator(1)));
    // Two steps, so that there is a past; in the second one agent 0 leaves.
    const states = new Float32Array(game.stateSize);
    game.reset(states, 0, createGenerator(2));
    const [first, second] = [createGenerator(3), createGenerator(4)].map((generator, step) => {
      const actions = Int32Array.of(1, 2 + step);
      const before = rowsOfStates(game, states, actions);
      const happened: NamedArrays = {
        ...Object.fromEntries(
          fields.map(({ name }) => {
            const { data, shape } = before[name];
            return [`next/${name}`, { data: data.map(() => generator.integer(2)), shape }];
          }),
        ),
        'next/masks': ndarray(
          before['masks'].data.map(() => generator.integer(2)),
          before['masks'].shape,
        ),
        'next/terminated': ndarray(Uint8Array.of(step, 0), [1, 2]),
      };
      const rows = { ...before, ...happened };
      writeObserved(game, { ...rows, terminated: rows['next/terminated'] }, 0, states, 0);
      return { rows, after: rowsOfStates(game, states, Int32Array.of(-1, -1)) };
    });
    for (const { rows, after } of [first, second]) {
      const seen = network.apply(params, tensors(rows))['body'] as tf.Tensor2D;
      const { targets, predicted } = network.contrast(params, seen, tensors(rows));
      expect(targets.dataSync()).toEqual(network.apply(params, tensors(after))['body'].dataSync());
      expect(predicted.shape).toEqual([1, 5]);
    }
  }
});
