/** MOA and OMG of one observer, with one store of histories. */
import { createHistoryStore } from '@coplay/buffers';
import { createGenerator, createRollout, type Metrics, vectorEnv } from '@coplay/core';
import { randomAgent, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { createMoa, createOmg, hopAgent, hopPlusAgent, socialInfluenceAgent } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 2, obstaclePieces: 0, maxSteps: 12 });
const id = 'agent_0';

beforeAll(async () => {
  await useBackend('wasm'); // another file may have left the slowest one
});

/** Models with memory of their own, or with a store. */
function models(shared: boolean) {
  const store = shared ? createHistoryStore({ game, id }) : undefined;
  const common = { game, id, executor: 'eager', store } as const;
  const moa = createMoa({ ...common, minRows: 8, network: mlp({ hidden: [8] }), attempts: true });
  const sizes = { goalDim: 2, hidden: [8], stateUnits: 4, historyUnits: 4, batchSize: 2, vaeBatchSize: 8 };
  const omg = createOmg({ ...common, ...sizes, vaeUpdates: 1, vaeSteps: 2, inferenceSteps: 1 });
  return { store, moa, omg };
}

function rolloutOf() {
  const agents = game.agents.map((agent) => randomAgent({ game, id: agent }));
  return createRollout(vectorEnv(game, { envs: 3, seed: 5 }), agents, createGenerator(5));
}

describe('a store for MOA and OMG', () => {
  it('leaves everything that they learn as it is', async () => {
    const all: Metrics[][] = [];
    for (const shared of [false, true]) {
      const { store, moa, omg } = models(shared);
      const generator = createGenerator(1);
      await moa.initialise(generator);
      await omg.initialise(generator);
      const rollout = rolloutOf();
      const log: Metrics[] = [];
      for (let update = 0; update < 2; update++) {
        const experience = await rollout.collect(16);
        const values = experience.rewards.slice();
        if (store) store.push(experience, values);
        else {
          moa.push(experience);
          omg.push(experience, values);
        }
        log.push({ ...(await moa.update(generator)), ...(await omg.update(generator)) });
        log.push({ stag: moa.prior('agent_1')[0] });
      }
      all.push(log);
      moa.dispose();
      omg.dispose();
    }
    expect(all[0][0]).toHaveProperty('moa/accuracy');
    expect(all[0][2]).toHaveProperty('omg/loss'); // the inference is trained in the second update
    expect(all[1]).toEqual(all[0]);
  });

  it('is saved and restored apart from them, and before them', async () => {
    const [one, other] = [models(true), models(true)];
    const generator = createGenerator(1);
    for (const learner of [one.moa, one.omg, other.moa, other.omg]) await learner.initialise(generator);
    const experience = await rolloutOf().collect(24);
    one.store!.push(experience, experience.rewards);
    const saved = { store: one.store!.state(), moa: await one.moa.state(), omg: await one.omg.state() };
    const first = /saved.buffer.*expected the histories of the store that it was saved with.*restore it before them/;
    await expect(other.moa.restore(saved.moa)).rejects.toThrow(first);
    await expect(other.omg.restore(saved.omg)).rejects.toThrow(first);
    other.store!.restore(saved.store);
    await other.moa.restore(saved.moa);
    await other.omg.restore(saved.omg);
    expect(other.moa.prior('agent_1')).toEqual(one.moa.prior('agent_1'));
    expect(await other.moa.update(createGenerator(2))).toEqual(await one.moa.update(createGenerator(2)));
    expect(await other.omg.update(createGenerator(3))).toEqual(await one.omg.update(createGenerator(3)));
    for (const { moa, omg } of [one, other]) {
      moa.dispose();
      omg.dispose();
    }
  });

  it('is refused for another observer, and takes experience once and with values', async () => {
    const store = createHistoryStore({ game, id: 'agent_1' });
    expect(() => createMoa({ game, id, store })).toThrow(
      /createMoa: option store: expected the store of agent_0, got that/,
    );
    expect(() => createOmg({ game, id, store })).toThrow(
      /createOmg: option store: expected the store of agent_0, got that/,
    );
    const { store: own, moa, omg } = models(true);
    const experience = await rolloutOf().collect(4);
    expect(() => moa.push(experience)).toThrow(/Push episodes to the store/);
    expect(() => omg.push(experience, experience.rewards)).toThrow(/Push episodes to the store/);
    expect(() => own!.push(experience)).toThrow(/values, by which subgoals are selected, got none/);
    moa.dispose();
    omg.dispose();
  });

  it('is refused for another game, also one of equal shapes, and inside an agent', () => {
    const store = createHistoryStore({ game: stagHunt({ ...game.options, maxSteps: 13 }), id });
    expect(() => createMoa({ game, id, store })).toThrow(/createMoa: option store: .*"maxSteps":12.*"maxSteps":13/);
    expect(() => createOmg({ game, id, store })).toThrow(/createOmg: option store: .*"maxSteps":12.*"maxSteps":13/);
    const own = { store: createHistoryStore({ game, id }) };
    expect(() => hopAgent({ game, id, moa: own as object })).toThrow(/hopAgent: option moa\.store: .*docs\/omg\.md/);
    expect(() => hopPlusAgent({ game, id, moa: own as object })).toThrow(/hopPlusAgent: option moa\.store: /);
    expect(() => hopPlusAgent({ game, id, omg: own as object })).toThrow(/hopPlusAgent: option omg\.store: /);
    const influence = () => socialInfluenceAgent({ game, id, moa: own as object });
    expect(influence).toThrow(/socialInfluenceAgent: option moa\.store: /);
  });
});
