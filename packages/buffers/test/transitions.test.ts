import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTransitionStore,
  gridTransitions,
  loadTransitions,
  observationRows,
  observationTransitions,
  splitEpisodes,
} from '@coplay/buffers';
import { createGenerator, createRollout, type NamedArrays, ndarray, vectorEnv } from '@coplay/core';
import { allocateCuts, allocateExperience, allocateGrid } from '@coplay/core/arrays';
import { matrixGame, nearestHare, randomAgent, stagHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

const game = stagHunt({ size: 4, agents: 3, stags: 1, hares: 3, maxSteps: 12 });
const A = 3;

/**
 * Random play (hares are taken, so agents leave), and the states before and after every step, read from the
 * environment.
 */
async function played(envs: number, steps: number) {
  const env = vectorEnv(game, { envs, seed: 3 });
  const agents = game.agents.map((id, i) => (i === 0 ? nearestHare({ game, id }) : randomAgent({ game, id })));
  const rollout = createRollout(env, agents, createGenerator(4));
  const before: Int32Array[] = [];
  const step = env.step.bind(env);
  env.step = (actions) => {
    before.push(Int32Array.from(env.states));
    step(actions);
  };
  const experience = await rollout.collect(steps);
  return { experience, before, last: Int32Array.from(env.states) };
}

describe('gridTransitions', () => {
  it('are the steps of the game: before, what was done, after; also at the end of episodes and of the stream', async () => {
    const [envs, steps] = [3, 40];
    const { experience, before } = await played(envs, steps);
    const rows = gridTransitions(game, experience);
    expect(rows['rewards'].shape).toEqual([envs * steps, A]);
    const grid = game.grid!;
    const [seen, next] = [allocateGrid(grid, A, 1), allocateGrid(grid, A, 1)];
    let ends = 0;
    for (let e = 0; e < envs; e++) {
      for (let t = 0; t < steps; t++) {
        const row = e * steps + t;
        const state = before[t].slice(e * game.stateSize, (e + 1) * game.stateSize);
        grid.read(state, 0, seen, 0);
        // The rules say what comes next: the environment's own states are already those of the next episode at an end.
        const actions = experience.actions.slice(row * A, (row + 1) * A);
        const result = {
          rewards: new Float32Array(A),
          terminated: new Uint8Array(A),
          truncated: new Uint8Array(A),
          infos: Object.fromEntries(game.infos.map((name) => [name, new Float32Array(A)])),
        };
        game.step(state, 0, actions, 0, createGenerator(0), result, 0);
        grid.read(state, 0, next, 0);
        const at = (name: string, size: number) => [...rows[name].data.slice(row * size, (row + 1) * size)];
        expect(at('cells', A)).toEqual([...seen.cells]);
        expect(at('things', 32)).toEqual([...seen.things]);
        expect(at('elapsed', 1)).toEqual([...seen.elapsed]);
        expect(at('next/cells', A)).toEqual([...next.cells]);
        expect(at('next/things', 32)).toEqual([...next.things]);
        expect(at('rewards', A)).toEqual([...result.rewards]);
        expect(at('actions', A)).toEqual([...actions].map((a, i) => (seen.cells[i] === 16 ? -1 : a)));
        ends += experience.ended[row];
      }
    }
    expect(ends).toBeGreaterThan(5);
    for (const seat of [1, 2]) expect(gridTransitions(game, experience, seat)).toEqual(rows); // all see the same
  });

  it('leaves padding out, and refuses what a model imagined', async () => {
    const { experience } = await played(4, 40);
    const episodes = splitEpisodes(experience, { steps: 20 }); // padded
    const filled = episodes.lengths.reduce((sum, length) => sum + length, 0);
    expect(filled).toBeLessThan(episodes.envs * episodes.steps);
    expect(gridTransitions(game, episodes)['rewards'].shape[0]).toBe(filled);
    const imagined = { ...experience, isImagined: Uint8Array.of(0, 0, 1, 0) };
    expect(() => gridTransitions(game, imagined)).toThrow(/imagined experience in environment 2/);
    const cut = { ...experience, cuts: allocateCuts(game, 0) };
    expect(() => gridTransitions(game, cut)).toThrow(/after the last step/);
    expect(() => gridTransitions(game, experience, 3)).toThrow(/seat from 0 to 2/);
    expect(() => gridTransitions(matrixGame(), experience)).toThrow(/grid parts/);
  });
});

describe('observationTransitions', () => {
  it('refuses a field of the name of another column', () => {
    const field = { shape: [2], dtype: 'uint8' } as const;
    for (const name of ['masks', 'active', 'past/actions']) {
      const experience = allocateExperience({ agents: ['a'], actions: 2, observation: { [name]: field } }, 1, 1);
      expect(() => observationRows(experience, Int32Array.of(0))).toThrow(
        `observation: expected fields of other names`,
      );
    }
  });

  it("pair everyone's observations: what was played is what is seen next", async () => {
    const matrix = matrixGame({ maxSteps: 5 });
    const agents = matrix.agents.map((id) => randomAgent({ game: matrix, id }));
    const rollout = createRollout(vectorEnv(matrix, { envs: 2, seed: 1 }), agents, createGenerator(2));
    const rows = observationTransitions(await rollout.collect(13));
    expect(rows['joint'].shape).toEqual([26, 2, 5]);
    for (let row = 0; row < 26; row++) {
      const [own, other] = [rows['actions'].data[row * 2], rows['actions'].data[row * 2 + 1]];
      for (const [seat, joint] of [own * 2 + other, other * 2 + own].entries()) {
        const from = (row * 2 + seat) * 5;
        const seen = [...rows['next/joint'].data.slice(from, from + 5)];
        expect(seen).toEqual([0, 1, 2, 3, 4].map((i) => (i === joint ? 1 : 0)));
      }
    }
    expect([...rows['active'].data].every((flag) => flag === 1)).toBe(true);
    expect([...rows['next/terminated'].data].every((flag) => flag === 0)).toBe(true); // time limits don't terminate
  });
});

/** Rows in which every field holds the number of the row. */
function numbered(from: number, count: number): NamedArrays {
  const numbers = Float32Array.from({ length: count }, (_, i) => from + i);
  return {
    state: ndarray(
      Int32Array.from({ length: 2 * count }, (_, i) => from + Math.floor(i / 2)),
      [count, 2],
    ),
    rewards: ndarray(numbers, [count, 1]),
  };
}

describe('transition store', () => {
  it('is a ring in which the fields of a row stay together', () => {
    const store = createTransitionStore({ capacity: 5 });
    const generator = createGenerator(1);
    store.push(numbered(0, 3), generator);
    expect([store.size, store.pushed]).toEqual([3, 3]);
    store.push(numbered(3, 4), generator);
    expect([...store.rows()['rewards'].data]).toEqual([2, 3, 4, 5, 6]);
    store.push(numbered(7, 12), generator); // more than it holds
    expect([store.size, store.pushed]).toEqual([5, 19]);
    expect([...store.rows()['rewards'].data]).toEqual([14, 15, 16, 17, 18]);
    const drawn = store.gather(store.sample(generator, 500));
    const counts = new Map<number, number>();
    drawn['rewards'].data.forEach((number: number, i: number) => {
      expect([...drawn['state'].data.slice(2 * i, 2 * i + 2)]).toEqual([number, number]);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    });
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual([14, 15, 16, 17, 18]);
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(45); // 5 standard deviations
  });

  it('gives each member rows of its own, which stay until new ones come', () => {
    const store = createTransitionStore({ capacity: 300, members: 5 });
    const generator = createGenerator(2);
    store.push(numbered(0, 200), generator);
    const sets = () => [0, 1, 2, 3, 4].map((member) => String(store.placesOf(member)));
    const before = sets();
    expect(new Set(before).size).toBe(5);
    for (const member of [0, 1, 2, 3, 4]) {
      const places = store.placesOf(member);
      expect(Math.abs(places.length - 200)).toBeLessThan(71); // Poisson(1) each: 5 standard deviations
      const share = new Set(places).size / 200;
      expect(Math.abs(share - (1 - Math.exp(-1)))).toBeLessThan(0.17); // the share of rows that a bootstrap has
      const rows = new Set(store.gather(store.sample(generator, 400, member))['rewards'].data);
      for (const row of rows) expect(places).toContain(row);
    }
    expect(sets()).toEqual(before); // drawing changes nothing
    store.push(numbered(200, 50), generator);
    sets().forEach((set, member) => {
      expect(set.startsWith(`${before[member]},`)).toBe(true); // the old rows as they were, new ones behind them
    });
    const one = createTransitionStore({ capacity: 10 });
    one.push(numbered(0, 4), generator);
    expect([...one.placesOf(0)]).toEqual([0, 1, 2, 3]);
  });

  it('goes on from a saved state as if nothing had been', () => {
    const [first, second] = [0, 1].map(() => createTransitionStore({ capacity: 7, members: 2 }));
    first.push(numbered(0, 10), createGenerator(3));
    second.restore(first.state());
    for (const store of [first, second]) store.push(numbered(10, 3), createGenerator(4));
    expect(second.state()).toEqual(first.state());
    expect(second.placesOf(1)).toEqual(first.placesOf(1));
    expect([...second.rows()['rewards'].data]).toEqual([6, 7, 8, 9, 10, 11, 12]);
    const other = createTransitionStore({ capacity: 8, members: 2 });
    expect(() => other.restore(first.state())).toThrow(/a store of 8 transitions/);
  });

  it('is written to a file and read again', async () => {
    const store = createTransitionStore({ capacity: 4 });
    store.push(numbered(0, 6), createGenerator(5));
    const path = join(mkdtempSync(join(tmpdir(), 'coplay-')), 'transitions.npz');
    await store.save(path);
    expect(await loadTransitions(path)).toEqual(store.rows());
  });

  it('refuses other fields than before, and to draw from nothing', () => {
    const store = createTransitionStore({ capacity: 4 });
    expect(() => store.sample(createGenerator(1), 1)).toThrow(/expected transitions, got none/);
    store.push(numbered(0, 2), createGenerator(1));
    expect(() => store.push({ rewards: ndarray(new Float32Array(2), [2, 1]) }, createGenerator(1))).toThrow(/state/);
    expect(() => createTransitionStore({ capacity: 0 })).toThrow(/capacity/);
  });
});
