/**
 * Each part that is saved takes a whole state, or leaves everything as it was when any entry of the state is damaged.
 */
import * as buffers from '@coplay/buffers';
import * as core from '@coplay/core';
import * as envs from '@coplay/envs';
import * as planning from '@coplay/planning';
import { lola } from '@coplay/trainers';
import { expect, it } from 'vitest';
import { faultsOf, type Restorable, type TryOptions } from './mutations';

const game = envs.stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const seats = () => game.agents.map((id) => envs.randomAgent({ game, id }));
const env = core.vectorEnv(game, { envs: 2, seed: 4 });
/** Ends within an episode, so that collectors hold the beginning of one. */
const lived = await core.createRollout(env, seats(), core.createGenerator(1)).collect(8);
const rows = () => ({
  a: core.ndarray(Float32Array.of(1, 2, 3, 4)),
  rewards: core.ndarray(new Float32Array(8), [4, 2]),
});
const flagged = (isImagined: number) => ({ ...rows(), isImagined: core.ndarray(new Uint8Array(4).fill(isImagined)) });

function filled<Part>(part: Part, fill: (part: Part) => void): Part {
  fill(part);
  return part;
}

/** An agent's memory has other names for the same two functions. */
const remembered = (agent: { save?(): core.SavedState; restore?(saved: core.SavedState): void }): Restorable => ({
  state: () => agent.save!(),
  restore: (saved) => agent.restore!(saved),
});

async function played(agent: core.Agent): Promise<Restorable> {
  const others = game.agents.filter((id) => id !== agent.id).map((id) => envs.randomAgent({ game, id }));
  await core.createRollout(core.vectorEnv(game, { envs: 2 }), [agent, ...others], core.createGenerator(2)).collect(5);
  return remembered(agent);
}

async function believing(): Promise<Restorable> {
  const beliefs = planning.createBeliefs({ game, id: 'agent_0' });
  beliefs.see(env.states, env.isFirst);
  return { state: () => beliefs.save(), restore: (saved) => beliefs.restore(saved) };
}

const switching = envs.switcher({
  ...{ game, id: 'agent_0', episodes: 1 },
  first: envs.titForTat({ game, id: 'agent_0' }),
  second: envs.nearestHare({ game, id: 'agent_0' }),
});

/** A store that two buffers read. */
function storeOfTwo(options = {}): buffers.HistoryStore {
  const store = buffers.createHistoryStore({ game, id: 'agent_0' });
  buffers.createMoaBuffer({ coPlayers: ['agent_1'], store, ...options });
  buffers.createHistoryBuffer({ observer: 0, store });
  store.push(lived);
  return store;
}

const signed = { good: ['mean, negative'] };
/**
 * A collector may be empty, and what it says of observations may leave out how they are shown; rewards may be any
 * numbers.
 */
const numbers = ['data, with a NaN', 'data, with an infinity'];
const collected = {
  every: 11,
  good: ['all of it, a record', 'collector, a record', 'kind, left out', 'channels, left out', ...numbers],
};
/** A rule that remembers nothing has no state; the arrays of others show that restoring looks at them. */
const listening: core.Agent<{ heard: Int32Array }> = {
  ...{ id: 'agent_0', name: 'listening' },
  initialState: (count) => ({ heard: new Int32Array(count) }),
  act: ({ rows }, state) => ({ actions: new Int32Array(rows), state }),
};

const PARTS: Record<string, [part: unknown, options?: TryOptions]> = {
  generator: [core.createGenerator(3)],
  every: [filled(core.every(3), (clock) => void clock(4))],
  ratio: [filled(core.ratio(0.5), (clock) => void [clock(4), clock(9)]), { good: ['last, left out'] }],
  runningMoments: [filled(core.createRunningMoments(2), (moments) => void moments.update([1, 2, 3, 5])), signed],
  valueNorm: [filled(core.createValueNorm(), (norm) => void norm.update([1, 2, 4])), signed],
  rewardScaler: [
    filled(core.createRewardScaler({ envs: 2, agents: 2, gamma: 0.9 }), (own) => void own.scale(lived)),
    signed,
  ],
  vectorEnv: [env],
  rollout: [
    core.createRollout(env, [listening, seats()[1]], core.createGenerator(1)),
    { good: ['1, a text', '1, NaN'] }, // what an agent without a state is given, it doesn't look at
  ],
  goalCounts: [planning.goalCounts(3, 0.9)],
  goalsPerEpisode: [planning.goalsPerEpisode(3)],
  beliefs: [await believing()],
  titForTat: [await played(envs.titForTat({ game, id: 'agent_0' }))],
  // Another number of rows starts from the beginning: `evaluate` chooses its own number.
  switcher: [await played(switching), { good: ['episodes, shortened'] }],
  lola: [lola({ game: envs.matrixGame({ kind: 'prisoners-dilemma' }) })],
  episodeCollector: [filled(buffers.createEpisodeCollector(), (own) => void own.push(lived)), collected],
  transitionStore: [
    filled(buffers.createTransitionStore({ capacity: 3, members: 2 }), (own) =>
      own.push(rows(), core.createGenerator(1)),
    ),
  ],
  outcomeStore: [
    filled(buffers.createOutcomeStore({ capacity: 3 }), (own) => own.push(rows())),
    { good: ['rooms, truncated'] },
  ],
  replayBuffer: [filled(buffers.createReplayBuffer({ capacity: 3 }), (own) => own.push(rows()))],
  sequenceReplay: [
    filled(buffers.createSequenceReplay({ capacity: 8, length: 2 }), (own) => {
      own.push(rows());
      const { streams, steps } = own.look(core.createGenerator(1), 1);
      own.overwrite({ streams, steps }, { a: core.ndarray(Float32Array.of(8, 9), [1, 2]) });
    }),
    { good: ['renewed, left out', 'renewed, truncated'] },
  ],
  ppoBuffer: [
    filled(buffers.createPpoBuffer({ agents: ['x'] }), (own) => {
      own.push('x', flagged(0));
      own.push('x', flagged(1));
    }),
    { good: ['real, a record', 'imagined, a record'] },
  ],
  moaBuffer: [filled(buffers.createMoaBuffer({ coPlayers: ['agent_1'] }), (own) => void own.push(lived)), collected],
  moaBufferByGoal: [
    filled(buffers.createMoaBuffer({ coPlayers: ['agent_1'], goals: game.goals, roomPerGoal: true }), (own) => {
      own.push(lived);
    }),
    collected,
  ],
  historyStore: [storeOfTwo(), collected],
  historyStoreByGoal: [storeOfTwo({ goals: game.goals, roomPerGoal: true }), collected],
  historyBuffer: [filled(buffers.createHistoryBuffer({ observer: 0 }), (own) => void own.push(lived)), collected],
};

it.each(Object.keys(PARTS))('%s', async (name) => {
  const [part, options] = PARTS[name];
  expect(await faultsOf(part as Restorable, options)).toEqual([]);
});
