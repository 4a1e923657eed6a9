import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as buffers from '@coplay/buffers';
import * as npz from '@coplay/buffers/npz';
import * as records from '@coplay/buffers/records';
import { createGenerator, createRollout, ndarray, vectorEnv } from '@coplay/core';
import { randomAgent, stagHunt } from '@coplay/envs';
import { type Doors, door } from './doors';

const folder = mkdtempSync(join(tmpdir(), 'coplay-arguments-'));
const path = (name: string) => join(folder, name);

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const agents = game.agents.map((id) => randomAgent({ game, id }));
const lived = await createRollout(vectorEnv(game, { envs: 2 }), agents, createGenerator(1)).collect(6);
const experience = () => lived;
const generator = () => createGenerator(1);
const rows = () => ({ a: ndarray(new Float32Array(4), [4]), b: ndarray(new Int32Array(8), [4, 2]) });
const outcomes = () => ({ ...rows(), rewards: ndarray(new Float32Array(8), [4, 2]) });
const replay = buffers.createSequenceReplay({ capacity: 8, length: 2 });
replay.push(rows());
const moa = () => buffers.moaRows(lived, 0, { goals: game.goals });
writeFileSync(path('a.npz'), npz.encodeNpz(rows()));
await buffers.saveExperience(path('lived.npz'), lived);
await buffers.saveReplay(path('replay'), replay.state());

const filled = () => {
  const store = buffers.createTransitionStore({ capacity: 8 });
  store.push(rows());
  return store;
};
const windows = () => ({ streams: Int32Array.of(0), steps: Float64Array.of(0) });
const column = () => ({ a: ndarray(new Float32Array(2), [1, 2]) });
const some = ['[]', 'longer', 'Uint16Array [7]'];
/** Puts rows into a buffer, so that there is something to draw. */
const fill = (give: () => buffersRows) => (buffer: { push(given: buffersRows): void }) => buffer.push(give());
type buffersRows = ReturnType<typeof rows>;
const moaBuffer = () => buffers.createMoaBuffer({ coPlayers: ['agent_1'] });
const history = () => buffers.createHistoryBuffer({ observer: 0 });

/** A store refuses experience until a buffer reads it. */
const readStore = (store: buffers.HistoryStore) => void buffers.createMoaBuffer({ coPlayers: ['agent_1'], store });

/** The public functions of buffers, with valid arguments. */
export const buffersDoors: Doors = {
  agentRows: door(() => [experience(), 0]),
  agentSequences: door(() => [experience(), 0, { length: 2 }]),
  attemptRows: door(() => [moa(), 1, game.goals]),
  concatExperience: door(() => [[experience()]], [['longer']]),
  createEpisodeCollector: door(() => [], [], { push: door(() => [experience()]) }),
  createHistoryBuffer: door(() => [{ observer: 0 }], [], {
    push: door(() => [experience()]),
    rows: door(() => [[]], [['[]']]),
    restore: door(() => [history().state()]),
    save: door(() => [path('history.npz')], ['path']),
  }),
  createHistoryStore: door(
    () => [{ game, id: 'agent_0' }],
    [],
    {
      push: door(() => [experience(), new Float32Array(lived.rewards.length)], ['nothing', ['undefined']]),
      restore: door(() => {
        const store = buffers.createHistoryStore({ game, id: 'agent_0' });
        readStore(store);
        return [store.state()];
      }),
    },
    [],
    readStore,
  ),
  createMoaBuffer: door(() => [{ coPlayers: ['agent_1'] }], [], {
    push: door(() => [experience()]),
    pushRows: door(() => ['agent_1', moa()]),
    held: door(() => ['agent_1']),
    restore: door(() => [moaBuffer().state()]),
    save: door(() => [path('moa.npz')], ['path']),
  }),
  createOutcomeStore: door(
    () => [{}],
    ['options'],
    {
      push: door(() => [outcomes()]),
      sample: door(() => [generator(), 2], ['nothing', ['2**33']]),
      restore: door(() => [buffers.createOutcomeStore().state()]),
    },
    [],
    fill(outcomes),
  ),
  createPpoBuffer: door(() => [], [], {
    push: door(() => ['agent_0', buffers.agentRows(lived, 0)], ['text']),
    minibatches: door(() => [generator(), { size: 2 }], ['nothing', 'options']),
    plan: door(() => [generator(), { size: 2 }], ['nothing', 'options']),
    table: door(() => [8], [['undefined', '2**33']]),
    restore: door(() => [buffers.createPpoBuffer().state()]),
  }),
  createReplayBuffer: door(
    () => [{ capacity: 8 }],
    [],
    {
      push: door(() => [rows(), 0], ['nothing', ['undefined']]),
      windows: door(() => [2], [['2**33']]),
      sample: door(() => [generator(), { batch: 1, length: 2 }]),
      draw: door(() => [generator(), 1, 2]),
      gather: door(() => [windows(), 2]),
      holds: door(() => [0, 0, 2], [['-1', '2**33'], ['-1', '2**33'], ['2**33']]),
      overwrite: door(() => [windows(), column()], ['nothing', 'record']),
      restore: door(() => [buffers.createReplayBuffer({ capacity: 8 }).state()]),
    },
    [],
    fill(rows),
  ),
  createSequenceReplay: door(
    () => [{ capacity: 8, length: 2 }],
    [],
    {
      push: door(() => [rows(), 0], ['nothing', ['undefined']]),
      sample: door(() => [generator(), 1]),
      look: door(() => [generator(), 1]),
      overwrite: door(() => [windows(), column()], ['nothing', 'record']),
      restore: door(() => [replay.state()]),
    },
    [],
    fill(rows),
  ),
  createTransitionStore: door(
    () => [{ capacity: 8 }],
    [],
    {
      push: door(() => [rows(), generator()], ['nothing', ['undefined']]),
      placesOf: door(() => [0]),
      sample: door(() => [generator(), 2, 0], ['nothing', ['2**33'], ['undefined']]),
      gather: door(() => [[0, 1]], [some]),
      restore: door(() => [filled().state()]),
      save: door(() => [path('store.npz')], ['path']),
    },
    [],
    fill(rows),
  ),
  decodeExperience: door(() => [buffers.encodeExperience(lived)]),
  encodeExperience: door(() => [experience()]),
  episodeStatistics: door(() => [experience()]),
  gridTransitions: door(() => [game, experience(), 0], ['nothing', 'nothing', ['undefined']]),
  loadExperience: door(() => [path('lived.npz')], ['path']),
  loadReplay: door(() => [path('replay'), {}], ['path', 'options']),
  loadTransitions: door(() => [path('a.npz')], ['path']),
  moaRows: door(() => [experience(), 0, {}], ['nothing', 'nothing', 'options']),
  observationRows: door(() => [experience(), Int32Array.of(0), {}], ['nothing', ['longer'], 'options']),
  observationTransitions: door(() => [experience(), {}], ['nothing', 'options']),
  planMinibatches: door(() => [{ real: 4, imagined: 0 }, { size: 2 }], ['nothing', 'options']),
  saveExperience: door(() => [path('saved.npz'), experience()], ['path']),
  saveReplay: door(() => [path('replays'), replay.state(), {}], ['path', 'nothing', 'options']),
  selectEnvs: door(() => [experience(), [0]], ['nothing', ['[]', 'longer']]),
  sliceSteps: door(() => [experience(), 0, 2]),
  splitEpisodes: door(() => [experience(), {}], ['nothing', 'options']),
  splitSegments: door(() => [experience(), 2]),
};

/** Those of `@coplay/buffers/npz`. */
export const npzDoors: Doors = {
  decodeNpz: door(() => [npz.encodeNpz(rows()), 'decodeNpz', {}], [['longer'], 'anything', 'options']),
  encodeNpz: door(() => [rows()], ['record']),
  loadNpz: door(() => [path('a.npz'), {}], ['path', 'options']),
  saveNpz: door(() => [path('saved.npz'), rows()], ['path', 'record']),
};

/** Those of `@coplay/buffers/records`. */
export const recordsDoors: Doors = {
  fromRecords: door(() => [records.toRecords(buffers.splitEpisodes(lived))]),
  streamRecords: door(() => [experience()]),
  toRecords: door(() => [buffers.splitEpisodes(lived)]),
};
