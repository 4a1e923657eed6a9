/** Buffers that share one store of histories hold the same rows as buffers with memory of their own. */
import {
  createHistoryBuffer,
  createHistoryStore,
  createMoaBuffer,
  type HistoryBuffer,
  type MoaBuffer,
} from '@coplay/buffers';
import { createGenerator, createRollout, type Experience, type NamedArrays, vectorEnv } from '@coplay/core';
import { gatherRows } from '@coplay/core/rows';
import { randomAgent, stagHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 2, obstaclePieces: 0, maxSteps: 12 });
const [id, coPlayers] = ['agent_1', ['agent_0', 'agent_2']];
const observer = 1;

/** Pieces of one rollout, and values of their states. */
async function pieces(count: number, steps = 7): Promise<{ experience: Experience; values: Float32Array }[]> {
  const agents = game.agents.map((agent) => randomAgent({ game, id: agent }));
  const rollout = createRollout(vectorEnv(game, { envs: 3, seed: 5 }), agents, createGenerator(5));
  const generator = createGenerator(6);
  const played = [];
  for (let i = 0; i < count; i++) {
    const experience = await rollout.collect(steps);
    played.push({ experience, values: Float32Array.from(experience.rewards, () => generator.uniform()) });
  }
  return played;
}

const { goals } = game;
type MoaSettings = Partial<Parameters<typeof createMoaBuffer>[0]>;
type OmgSettings = Partial<Parameters<typeof createHistoryBuffer>[0]>;

/** A pair of buffers with memory of their own, and one with a store. */
function pairs(moa: MoaSettings = {}, omg: OmgSettings = {}) {
  const store = createHistoryStore({ game, id });
  const make = (shared: object) => ({
    moa: createMoaBuffer({ coPlayers, goals, ...moa, ...shared }),
    omg: createHistoryBuffer({ observer, ...omg, ...shared }),
  });
  return { apart: make({}), together: make({ store }), store };
}

type Pair = { readonly moa: MoaBuffer; readonly omg: HistoryBuffer };

function contentOf({ moa, omg }: Pair) {
  const held = coPlayers.map((coPlayer) => {
    const { columns, places, lengths, serials } = moa.held(coPlayer);
    const rows = places.length === 0 ? {} : gatherRows(columns, places);
    return { rows: sorted(rows), lengths, serials };
  });
  const all = Array.from({ length: omg.size }, (_, place) => place);
  const omgRows = omg.size > 0 ? sorted(omg.rows(all)) : {};
  return { held, omgRows, offsets: omg.offsets(), counts: omg.counts, pushed: moa.pushed, rows: moa.rows };
}

const sorted = (rows: NamedArrays) => Object.fromEntries(Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1)));

describe('buffers with one store', () => {
  const cases: [what: string, moa: MoaSettings, omg: OmgSettings][] = [
    ['by default', {}, {}],
    ['with attempts and room for each goal', { attempts: true, roomPerGoal: true }, { valuesOf: 'coPlayer' }],
    ['in little room', { capacity: 36, roomPerGoal: true }, { capacity: 25 }],
    ['with episodes that reached a goal only', { caughtOnly: true, attempts: true }, {}],
    ["with the observer's own view", {}, { view: 'own' }],
    ['emptied each by its own rule', { keep: 'empty' }, { clearEvery: 2 }],
  ];
  it.each(cases)('hold the same rows %s', async (_, moa, omg) => {
    const { apart, together, store } = pairs(moa, omg);
    let ended = 0;
    for (const [i, { experience, values }] of (await pieces(6)).entries()) {
      apart.moa.push(experience);
      ended += apart.omg.push(experience, values);
      store.push(experience, values);
      expect(contentOf(together)).toEqual(contentOf(apart));
      if (i % 3 === 2) for (const { moa } of [apart, together]) moa.trained();
    }
    expect(ended).toBeGreaterThan(12);
  });

  it('keep each history once', async () => {
    const { together, store } = pairs();
    const [{ experience, values }] = await pieces(1, 40);
    const ended = store.push(experience, values);
    expect(together.omg.histories).toBe(ended);
    const held = coPlayers.flatMap((coPlayer) => together.moa.held(coPlayer).lengths);
    expect(held.length).toBe(ended); // both hold all of them
    expect(store.histories).toBe(ended);
    // A row: the observation, masks, three previous actions, action, left, and two values.
    const seen = Object.values(game.observation).reduce((sum, { shape, dtype }) => {
      return sum + shape.reduce((size, n) => size * n, dtype === 'uint8' ? 1 : 4);
    }, 0);
    expect(store.bytes).toBe(together.omg.size * (seen + game.actions + 3 * 4 + 4 + 1 + 2 * 4));
  });

  it('are cleared each by its own rule, and the store keeps what one of them holds', async () => {
    const { together, store } = pairs({ keep: 'empty' }, { clearEvery: 2 });
    const [first, second, third] = await pieces(3, 20);
    const push = ({ experience, values }: typeof first) => store.push(experience, values);
    const ended = push(first) + push(second);
    together.moa.trained();
    expect([together.moa.rows, together.omg.histories]).toEqual([{ agent_0: 0, agent_2: 0 }, ended]);
    expect(store.histories).toBe(ended);
    const later = push(third); // the third push clears the histories of OMG first
    expect([together.omg.histories, store.histories]).toEqual([later, later]);
    expect(coPlayers.flatMap((coPlayer) => together.moa.held(coPlayer).lengths).length).toBe(later);
    together.moa.trained();
    together.omg.clear();
    expect([store.histories, store.bytes]).toEqual([0, 0]);
  });

  it('are saved and restored with the store, once, and go on as if nothing had happened', async () => {
    const settings = [{ attempts: true, roomPerGoal: true, capacity: 48 }, { capacity: 60 }] as const;
    const [one, other] = [pairs(...settings), pairs(...settings)];
    const played = await pieces(6);
    for (const { experience, values } of played.slice(0, 3)) one.store.push(experience, values);
    const saved = one.store.state();
    other.store.push(played[5].experience, played[5].values); // is replaced
    other.store.restore(structuredClone(saved));
    expect(contentOf(other.together)).toEqual(contentOf(one.together));
    other.together.moa.restore(one.together.moa.state()); // compares the store
    other.together.omg.restore(one.together.omg.state());
    for (const { experience, values } of played.slice(3)) {
      for (const { store } of [one, other]) store.push(experience, values);
      expect(contentOf(other.together)).toEqual(contentOf(one.together));
    }
  });

  it('refuse another store, and a restore that fails changes nothing', async () => {
    const [one, other] = [pairs(), pairs()];
    const played = await pieces(2, 20);
    one.store.push(played[0].experience, played[0].values);
    other.store.push(played[1].experience, played[1].values);
    const elsewhere =
      /saved.store: expected the histories of the store that it was saved with.*store of agent_1 with other/;
    expect(() => other.together.moa.restore(one.together.moa.state())).toThrow(elsewhere);
    expect(() => other.together.omg.restore(one.together.omg.state())).toThrow(elsewhere);
    const apart = /the state of a buffer with memory of its own, got that of one that read a store/;
    expect(() => other.apart.moa.restore(one.together.moa.state())).toThrow(apart);
    expect(() => other.apart.omg.restore(one.together.omg.state())).toThrow(apart);
    const before = contentOf(other.together);
    const saved = structuredClone(one.store.state());
    const readers = saved['readers'] as unknown as { state: { pushes?: number } }[];
    readers[1].state.pushes = -1; // the second reader refuses it, once the first one was restored
    expect(() => other.store.restore(saved)).toThrow(/saved.readers\[1\].state.*pushes/);
    expect(contentOf(other.together)).toEqual(before);
    const strange = structuredClone(one.store.state());
    (strange['rows'] as NamedArrays)['observations/planes'].data.fill(7);
    const kind = /historyStore.restore: saved.rows: .*zeros and ones.*"observations\/planes".*got 7 for row 0/;
    expect(() => other.store.restore(strange)).toThrow(kind);
    expect(contentOf(other.together)).toEqual(before);
    const alone = createHistoryStore({ game, id });
    createMoaBuffer({ coPlayers, store: alone });
    expect(() => alone.restore(one.store.state())).toThrow(/saved.readers: expected what moa held, got moa, omg/);
  });

  it('refuse what belongs to the store, or to another observer', async () => {
    const { together, store } = pairs();
    const [{ experience, values }] = await pieces(1, 20);
    const own = /a buffer with memory of its own, got one that reads a store. Push episodes to the store/;
    expect(() => together.moa.push(experience)).toThrow(own);
    expect(() => together.omg.push(experience, values)).toThrow(own);
    await expect(together.moa.load('rows.npz')).rejects.toThrow(own);
    store.push(experience, values);
    expect(() => createMoaBuffer({ coPlayers, store })).toThrow(/a store without histories.*Make its readers first/);
    const fresh = createHistoryStore({ game, id });
    expect(() => createMoaBuffer({ coPlayers: ['agent_1'], store: fresh })).toThrow(
      /co-players of agent_1.*got "agent_1"/,
    );
    expect(() => createHistoryBuffer({ observer: 0, store: fresh })).toThrow(
      /option observer: expected 1, the seat of/,
    );
    expect(() => createHistoryBuffer({ observer, store: {} as never })).toThrow(/a store of createHistoryStore/);
    expect(() => createHistoryStore({ game, id: 'nobody' })).toThrow(/one of agent_0, agent_1, agent_2/);
    expect(() => createHistoryStore({ game, id }).push(experience)).toThrow(
      /a store that a model reads, got no reader/,
    );
  });
});
