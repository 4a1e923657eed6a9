import { createGenerator, type Game } from '@coplay/core';
import { expect, it } from 'vitest';
import { createSearch } from './search';
import type { SearchMemory } from './search-memory';

/** Steps 0, 1, 2, ...; two actions, of which the likelier has 0.75. */
const steps: Game<'int32'> = {
  name: 'steps',
  agents: ['agent_0'],
  actions: 2,
  actionNames: ['a', 'b'],
  observation: { step: { shape: [], dtype: 'int32' } },
  stateType: 'int32',
  stateSize: 1,
  maxSteps: 100,
  infos: [],
  options: {},
  reset: (state, offset) => state.fill(0, offset, offset + 1),
  step(state, offset, _actions, _from, _generator, result, row) {
    state[offset]++;
    for (const array of [result.rewards, result.terminated, result.truncated]) array[row] = 0;
  },
  legal: (_state, _offset, _agent, mask, at) => mask.fill(1, at, at + 2),
  observe: () => {},
  isActive: () => true,
  elapsed: (state, offset) => state[offset],
};

it('noise is on the prior of each tree at its root alone', async () => {
  const search = createSearch({ game: steps, simulations: 20, trees: 3, rootNoise: { alpha: 1, fraction: 0.5 } });
  const roots = { rows: 1, states: new Int32Array(1), seats: new Int32Array(1), generator: createGenerator(1) };
  const logits = (rows: number) => Float32Array.from({ length: 2 * rows }, (_, i) => Math.log(i % 2 ? 0.25 : 0.75));
  await search.search(roots, { focal: ({ rows }) => ({ logits: logits(rows), values: new Float32Array(rows) }) });
  const { trees } = (search as unknown as { memory: SearchMemory }).memory;
  const priors = (tree: number, node: number) =>
    Array.from(trees.priors.subarray(2 * (tree * 21 + node), 2 * (tree * 21 + node) + 2));
  for (const tree of [0, 1, 2]) {
    for (let node = 1; node < trees.counts[tree]; node++) {
      expect(priors(tree, node)[0]).toBeCloseTo(0.75, 6);
    }
  }
  expect(new Set([0, 1, 2].map((tree) => priors(tree, 0)[0])).size).toBe(3);
  expect(priors(0, 0)[0]).not.toBeCloseTo(0.75, 3);
});
