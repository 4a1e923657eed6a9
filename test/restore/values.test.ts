/**
 * Saved numbers that no game gives are refused by name, and change nothing: flags and masks, actions, goals, and counts
 * of rows.
 */
import { createEpisodeCollector, createMoaBuffer } from '@coplay/buffers';
import {
  createGenerator,
  createRollout,
  type NamedArrays,
  type NDArray,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import { randomAgent, stagHunt } from '@coplay/envs';
import { cellsWorldModel, mlp, planesWorldModel } from '@coplay/models';
import { createMoa, createWorldModel } from '@coplay/trainers';
import { expect, it } from 'vitest';
import type { Restorable } from './mutations';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const K = game.actions;
const G = game.goals!.names.length;
const agents = game.agents.map((id) => randomAgent({ game, id }));
/** Ends within an episode, so that collectors hold the beginning of one. */
const experience = await createRollout(vectorEnv(game, { envs: 2, seed: 4 }), agents, createGenerator(1)).collect(8);

const network = mlp({ hidden: [2] });
const options = { network, minRows: 1, epochs: 1, minibatchSize: 64, capacity: 16 };

async function models() {
  const moa = createMoa({ game, id: 'agent_0', ...options });
  await moa.initialise(createGenerator(3));
  moa.push(experience);
  await moa.update(createGenerator(4));
  return moa;
}

const byGoal = createMoaBuffer({ coPlayers: ['agent_1'], goals: game.goals, roomPerGoal: true });
const buffer = createMoaBuffer({ coPlayers: ['agent_1'] });
const collector = createEpisodeCollector();
for (const part of [byGoal, buffer, collector]) part.push(experience);

/** A deep copy of a state in which one number is another. */
async function changed(part: Restorable, change: (state: Tree) => void): Promise<SavedState> {
  const state = structuredClone(await part.state());
  change(state as unknown as Tree);
  return state;
}

/** A state, as a test reaches into it. */
// biome-ignore lint/suspicious/noExplicitAny: a state has any form
type Tree = any;

/** Sets the first number of an array. */
function setFirst({ data }: NDArray, value: number): void {
  data[0] = value;
}

async function expectRefused(part: Restorable, change: (state: Tree) => void, message: RegExp): Promise<void> {
  const before = await part.state();
  const damaged = await changed(part, change);
  await expect((async () => part.restore(damaged))()).rejects.toThrow(message);
  expect(await part.state()).toEqual(before);
}

/** In the first row: a number that no game gives, and what the message says of it. */
const ROWS: Record<string, [change: (rows: NamedArrays) => void, message: RegExp]> = {
  'a mask of 2': [({ masks }) => setFirst(masks, 2), /saved\.rows\.masks: .*from 0 to 1 at index 0, got 2/],
  'a flag of 2': [({ terminated }) => setFirst(terminated, 2), /saved\.rows\.terminated: .*from 0 to 1.*got 2/],
  'no such action': [({ actions }) => setFirst(actions, K), new RegExp(`saved\\.rows\\.actions: .*got ${K}`)],
  'a negative action': [({ actions }) => setFirst(actions, -1), /saved\.rows\.actions: .*got -1/],
  'an illegal action': [
    ({ masks, actions }) => setFirst({ ...masks, data: masks.data.subarray(actions.data[0]) }, 0),
    /saved\.rows\.actions: expected a legal action in row 0, got \d, whose mask is 0/,
  ],
  'no such previous action': [
    ({ previousActions }) => setFirst(previousActions, K),
    /saved\.rows\.previousActions: .*from -1/,
  ],
  'a previous action below -1': [
    ({ previousActions }) => setFirst(previousActions, -2),
    /saved\.rows\.previousActions: .*got -2/,
  ],
  'a goal below -1': [({ goals }) => setFirst(goals, -2), /saved\.rows\.goals: .*got -2/],
};

it.each(Object.keys(ROWS))('a ring of a co-player refuses %s', async (name) => {
  const [change, message] = ROWS[name];
  await expectRefused(buffer, (state) => change(state.rings.agent_1.rows), message);
  const first = (state: Tree) => state.rings.agent_1.rings.find((ring: Tree) => ring.lengths.data.length > 0);
  await expectRefused(byGoal, (state) => change(first(state).rows), message);
});

it('a buffer that knows the goals refuses another goal', async () => {
  const change = (state: Tree) => {
    const { rows } = state.rings.agent_1.rings.find((ring: Tree) => ring.lengths.data.length > 0);
    setFirst(rows.goals, G);
  };
  await expectRefused(byGoal, change, new RegExp(`rings\\.agent_1: .*saved\\.rows\\.goals: .*got ${G}`));
});

it('models of co-players name the ring', async () => {
  const moa = await models();
  const change = (state: Tree) => {
    const ring = state.buffer.rings.agent_1.rings.find((one: Tree) => one.lengths.data.length > 0);
    setFirst(ring.rows.actions, K);
  };
  await expectRefused(moa, change, /moa \(agent_0\): restore: saved\.buffer: .*saved\.rings\.agent_1: .*rows\.actions/);
});

it.each(['rows', 'episodes'])('models were not trained on more %s than were pushed', async (what) => {
  const moa = await models();
  const pushed = moa.buffer.pushed['agent_1'][what as 'rows' | 'episodes'];
  const change = (state: Tree) => {
    state.standings.agent_1.seen[what] = pushed + 1;
  };
  const message = `saved.standings.agent_1: seen.${what}: expected a finite number of at most ${pushed}, got ${pushed + 1}`;
  await expectRefused(moa, change, new RegExp(message.replaceAll('.', '\\.')));
});

const FLAGS = ['active', 'terminated', 'truncated', 'isFirst', 'ended', 'isImagined', 'masks', 'cuts/masks'];

it.each(FLAGS)('a collector refuses 2 in %s', async (name) => {
  const change = (state: Tree) => setFirst(state.arrays[name], 2);
  await expectRefused(collector, change, new RegExp(`episodeCollector\\.restore: saved\\.arrays\\.${name}: .*got 2`));
});

it.each([
  ['actions', K],
  ['actions', -1],
  ['previousActions', K],
  ['previousActions', -2],
  ['cuts/previousActions', K],
])('a collector refuses in %s the number %d', async (name, number) => {
  const change = (state: Tree) => setFirst(state.arrays[name], number);
  await expectRefused(collector, change, new RegExp(`saved\\.arrays\\.${name}: .*got ${number}`));
});

const kinds = { cells: cellsWorldModel({ filters: [2], hidden: 2 }), planes: planesWorldModel({ filters: [2] }) };

async function world(kind: keyof typeof kinds) {
  const model = createWorldModel({ game, model: kinds[kind], capacity: 64 });
  await model.initialise(createGenerator(5));
  model.push(experience);
  return model;
}

/** In the first transition: a number that no game gives, and what the message says of it. Cell 9 is off the map. */
const TRANSITIONS: Record<string, [column: string, number: number, says: string]> = {
  'a reward that is NaN': ['rewards', Number.NaN, 'a finite number at index 0, got NaN'],
  'an infinite reward': ['rewards', Number.POSITIVE_INFINITY, 'a finite number at index 0, got Infinity'],
  'no such action': ['actions', K, `from -1 to ${K - 1} at index 0, got ${K}`],
  'an action below -1': ['actions', -2, `from -1 to ${K - 1} at index 0, got -2`],
  'a cell after 9': ['cells', 10, 'from 0 to 9 at index 0, got 10'],
  'a negative cell': ['next/cells', -1, 'from 0 to 9 at index 0, got -1'],
  'a flag of 2': ['things', 2, 'from 0 to 1 at index 0, got 2'],
  'a step after the last': ['elapsed', 4, 'from 0 to 3 at index 0, got 4'],
};

it.each(Object.keys(TRANSITIONS))('a world model refuses %s', async (name) => {
  const [column, number, says] = TRANSITIONS[name];
  const model = await world('cells');
  const parts: Record<string, (state: Tree) => NamedArrays> = {
    'saved.store.rows': (state) => state.store.rows,
    'saved.outcomes.rooms[0].room.rows': (state) => state.outcomes.rooms[0].room.rows,
    'saved.fresh': (state) => state.fresh,
  };
  for (const [path, rowsOf] of Object.entries(parts)) {
    const message = `worldModel.restore: ${path}: ${column}: `.replaceAll(/[.[\]]/g, '\\$&');
    await expectRefused(model, (state) => setFirst(rowsOf(state)[column], number), new RegExp(`${message}.*${says}`));
  }
});

it('a world model of observations refuses flags, actions and rewards, and takes any finite reward', async () => {
  const model = await world('planes');
  for (const [column, number] of Object.entries({ rewards: Number.NaN, actions: K })) {
    const message = new RegExp(`saved\\.store\\.rows: ${column}: .*got ${number}`);
    await expectRefused(model, (state) => setFirst(state.store.rows[column], number), message);
  }
  await model.restore(await changed(model, (state) => setFirst(state.store.rows.rewards, -1e30)));
});

it('a world model was not right about more transitions than there were', async () => {
  const model = await world('cells');
  await model.update(createGenerator(6));
  const change = (state: Tree) => {
    state.score[1] = state.score[0] + 1;
  };
  await expectRefused(model, change, /worldModel\.restore: saved\.score: expected at most as many exact transitions/);
});
