/**
 * A model of another agent of your own: `npx tsx --conditions=@coplay/source examples/own-moa.ts`
 *
 * Agent_0 watches three others. Ours is a table: the frequency of each action of agent_1, given its legal actions. It
 * is compared with a network of `createMoa` on the same steps, and like that network it can play in agent_1's seat.
 */
import { moaRows } from '@coplay/buffers';
import { type Agent, createGenerator, createRollout, evaluate, type NamedArrays, vectorEnv } from '@coplay/core';
import { moaEvaluation, textTable } from '@coplay/diagnostics';
import { nearestHare, stagHunt } from '@coplay/envs';
import { sampleCategorical } from '@coplay/tensor/distributions';
import { createMoa } from '@coplay/trainers';

const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
const K = game.actions;
const others = game.agents.map((id) => nearestHare({ game, id }));
const rollout = createRollout(vectorEnv(game, { envs: 32, seed: 1 }), others, createGenerator(1));

/** Counts of actions by the mask of legal ones. */
function tableModel() {
  const counts = new Map<string, Float32Array>();
  const countsOf = (mask: Uint8Array) => {
    const known = counts.get(mask.join()) ?? Float32Array.from(mask, (legal) => 1e-3 * legal);
    counts.set(mask.join(), known);
    return known;
  };
  const maskOf = (masks: ArrayLike<number>, row: number) =>
    Uint8Array.from({ length: K }, (_, k) => masks[row * K + k]);
  return {
    learn(rows: NamedArrays) {
      rows['actions'].data.forEach((action: number, row: number) => {
        countsOf(maskOf(rows['masks'].data, row))[action]++;
      });
    },
    /** [N, K] log-probabilities. */
    predict(masks: ArrayLike<number>): Float32Array {
      const rows = masks.length / K;
      return Float32Array.from({ length: rows * K }, (_, i) => {
        const own = countsOf(maskOf(masks, Math.floor(i / K)));
        return Math.log(own[i % K] / own.reduce((a, b) => a + b, 0) + 1e-30);
      });
    },
  };
}

const table = tableModel();
const network = createMoa({ game, id: 'agent_0', centred: true, learningRate: 2e-3, minRows: 1 });
const generator = createGenerator(2);
await network.initialise(generator);

// Steps after agent_1 left are no steps of it: moaRows leaves them out, and the buffer of a model refuses them.
for (let update = 0; update < (process.env['COPLAY_QUICK'] ? 3 : 40); update++) {
  const experience = await rollout.collect(32);
  table.learn(moaRows(experience, 1, { goals: game.goals }));
  network.push(experience);
  await network.update(generator);
}

const unseen = moaRows(await rollout.collect(64), 1, { goals: game.goals });
const judged = {
  'our table': table.predict(unseen['masks'].data),
  network: await network.predictRows('agent_1', unseen),
};
const rows = Object.entries(judged).map(([model, scores]) => {
  const labels = unseen['actions'].data as Int32Array;
  const { top1, top3, balancedAccuracy } = moaEvaluation({ classes: game.actionNames, scores, labels });
  return { model, 'top-1': top1, 'top-3': top3, 'balanced accuracy': balancedAccuracy };
});
console.log(textTable(rows));

/** The table in agent_1's seat: an agent like any other, so it plays in imagined rollouts too. */
const standIn: Agent<null> = {
  id: 'agent_1',
  name: 'Table',
  initialState: () => null,
  act: (input, state, random) => ({
    actions: sampleCategorical(table.predict(input.masks), input.rows, K, random),
    state,
  }),
};

console.log('Mean return of agent_1: itself, the table and the network in its seat');
for (const agent of [others[1], standIn, network.agent('agent_1')]) {
  const seats = others.map((other) => (other.id === agent.id ? agent : other));
  console.log(`  ${agent.name}: ${(await evaluate(game, seats, { episodes: 200 })).returnMean['agent_1'].toFixed(2)}`);
}
network.dispose();
