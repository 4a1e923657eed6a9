import type { Agent, Game, Metrics, NDArray, SavedState } from '@coplay/core';
import { createGenerator } from '@coplay/core';
import { catchGame } from '@coplay/envs';
import { useBackend } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import {
  type DreamerAgentOptions,
  type DreamerOptions,
  dreamerAgent,
  selfPlay,
  sharedDreamerAgents,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyGame } from './games';
import { leavingGame } from './leaving-game';

beforeAll(async () => {
  await useBackend('wasm');
  useThreads(1); // no trials
});

const small = { size: 'debug', batchSize: 2, sequenceLength: 4, horizon: 3 } as const;

/** A co-player with rules of its own: by the step, what it did before (-1: nothing) and chance. */
function ruled(id: string, choose: (step: number, before: number, random: () => number) => number): Agent {
  return {
    id,
    name: 'ruled',
    initialState: (rows: number) => ({ step: new Int32Array(rows), did: new Int32Array(rows) }),
    act: (input, state, generator) => {
      const { step, did } = state as { step: Int32Array; did: Int32Array };
      const now = step.map((at, row) => (input.isFirst[row] === 1 ? 0 : at + 1));
      const actions = now.map((at, row) => choose(at, at === 0 ? -1 : did[row], () => generator.uniform()));
      return { actions, state: { step: now, did: actions } };
    },
  } as Agent;
}

/** What is in a learner's replay, rows of all streams. */
async function recorded(learner: { state(): Promise<SavedState> }): Promise<Record<string, NDArray>> {
  return ((await learner.state()) as unknown as { replay: { buffer: { rows: Record<string, NDArray> } } }).replay.buffer
    .rows;
}

describe('what is recorded of co-players', () => {
  it('is what each did before the observation, in cyclic order of seats, and who acts after it', async () => {
    const game = leavingGame({ leaves: [Infinity, 2, Infinity], maxSteps: 4, actions: 3 });
    const agent = dreamerAgent({ ...small, game, id: 'agent_1', coPlayers: 'moa', startAfter: 1e6 });
    const own = dreamerAgent({ ...small, game, id: 'agent_0', coPlayers: 'moa', startAfter: 1e6 });
    const third = ruled('agent_2', (step) => step % 3);
    const run = selfPlay({ game, agents: [own as Agent, agent as Agent, third], envs: 1, steps: 4, seed: 1 });
    await run.train({ envSteps: 4 });
    const first = await recorded(own.learner);
    // Seat 0: co-players are seats 1, who acts in steps 0 and 1 and has its last record after them, and 2.
    const others = [...first['coPlayerActions'].data];
    expect(others.filter((_, i) => i % 2 === 1)).toEqual([-1, 0, 1, 2, 0]);
    expect(others.filter((_, i) => i % 2 === 0).map((x) => x >= 0)).toEqual([false, true, true, false, false]);
    expect([...first['coPlayersActive'].data]).toEqual([1, 1, 1, 1, 0, 1, 0, 1, 0, 0]);
    // Seat 1: three records; co-players are seats 2 and 0, in this order.
    const second = await recorded(agent.learner);
    expect([...second['coPlayerActions'].data].filter((_, i) => i % 2 === 0)).toEqual([-1, 0, 1]);
    expect([...second['coPlayerActions'].data].filter((_, i) => i % 2 === 1)).toEqual([
      ...first['previousActions'].data.slice(0, 3),
    ]);
    expect([...second['coPlayersActive'].data]).toEqual([1, 1, 1, 1, 1, 1]);
    run.dispose();
  });
});

/**
 * Two agents; both earn 0.1705576, a number that is a bin of the reward's distribution, where they did the same, and
 * see nothing of it.
 */
const PAY = 0.1705576;
const game: Game<'uint8'> = {
  ...tinyGame({ agents: 2, maxSteps: 6, reward: () => 0 }),
  name: 'same',
  step: (state, offset, chosen, at, _generator, result, row) => {
    state[offset]++;
    const isLast = state[offset] === 6 ? 1 : 0;
    for (let i = 0; i < 2; i++) {
      result.rewards[row * 2 + i] = chosen[at] === chosen[at + 1] ? PAY : 0;
      result.terminated[row * 2 + i] = 0;
      result.truncated[row * 2 + i] = isLast;
    }
  },
  observe: (_state, _offset, _agent, out, row) => void out['cue'].fill(1, 2 * row, 2 * row + 2),
};

/**
 * Mean losses of the last updates, with a co-player that tosses a coin for its first action, and takes turns from then
 * on.
 */
async function lossesWith(coPlayers: 'none' | 'moa'): Promise<Metrics> {
  const options: Omit<DreamerAgentOptions, 'game' | 'id'> = {
    ...{ size: { preset: 'debug', bins: 255, deter: 32, hidden: 16, units: 16 }, warmUp: 0, learningRate: 3e-3 },
    ...{ batchSize: 8, sequenceLength: 8, horizon: 2, starts: 'last', replayLatents: false },
    ...{ trainRatio: 16, entropyScale: 0.1 },
  };
  const coPlayer = ruled('agent_1', (step, before, random) => (step > 0 ? 1 - before : random() < 0.5 ? 0 : 1));
  const agent = dreamerAgent({ ...options, game, id: 'agent_0', coPlayers });
  const run = selfPlay({ game, agents: [agent as Agent, coPlayer], envs: 8, steps: 16, seed: 1 });
  await run.train({ envSteps: 2048 });
  const learned = await agent.learner.train(20, createGenerator(5));
  run.dispose();
  return learned;
}

describe('a world model that is told what co-players do', { tags: ['learning'] }, () => {
  it('predicts what joint actions lead to, which the plain one cannot, and what co-players are about to do where that can be known', async () => {
    const [plain, aware] = [await lossesWith('none'), await lossesWith('moa')];
    // Whether the co-player did the same is a bit that the plain model is never shown: ln 2 for 6 of the 7 records of
    // an episode, all but the first.
    expect(plain['loss/rew']).toBeGreaterThan(0.95 * (6 / 7) * Math.LN2);
    expect(aware['loss/rew']).toBeLessThan(0.3 * (6 / 7) * Math.LN2);
    // What comes next, of 7 records: the first action, which nobody knows; five that take turns; and the end, which
    // takes counting. Who can neither count nor remember is left with H(1/7) + (6/7) ln 2 = 1.00, who remembers with
    // H(1/7) + (1/7) ln 2 = 0.51.
    expect(aware['loss/moa']).toBeGreaterThan(0.9 * (Math.LN2 / 7));
    expect(aware['loss/moa']).toBeLessThan(0.6);
    expect(plain['loss/moa']).toBeUndefined();
  });
});

const bits = (state: SavedState) =>
  JSON.stringify(state, (_, x) => (ArrayBuffer.isView(x) ? Array.from(x as Float32Array) : x));

describe('a run with co-players modelled', () => {
  const leaving = leavingGame({ leaves: [2, Infinity, 4], maxSteps: 5 });
  const make = (options: DreamerOptions = {}) => {
    const agents = sharedDreamerAgents({
      ...small,
      game: leaving,
      coPlayers: 'moa',
      startAfter: 1,
      trainRatio: 4,
      ...options,
    });
    return {
      agents,
      run: selfPlay({ game: leaving, agents: agents as unknown as Agent[], envs: 2, steps: 4, seed: 2 }),
    };
  };

  it.each(['joint', 'coupled', 'separate'] as const)(
    'goes on to the bit after a restore: %s',
    { tags: ['learning'] },
    async (schedule) => {
      const [one, two] = [make({ schedule }), make({ schedule })];
      await one.run.train({ envSteps: 48 });
      const saved = structuredClone(await one.run.state());
      await one.run.train({ envSteps: 80 });
      await two.run.restore(saved);
      await two.run.train({ envSteps: 80 });
      expect(bits(await two.run.state())).toBe(bits(await one.run.state()));
      expect(one.agents[0].learner.updates).toBeGreaterThan(20);
      for (const { run } of [one, two]) run.dispose();
    },
  );

  it('can be trained by hand, from states that say who is there or that leave it out, and shown open loops', async () => {
    const { agents, run } = make({ startAfter: 1e6, warmUp: 0 });
    await run.train({ envSteps: 40 });
    const { learner } = agents[0];
    const { states } = await learner.trainWorldModel(createGenerator(1));
    expect(states.coPlayersActive?.shape).toEqual([2, 4, 2]);
    const { coPlayersActive: _, ...silent } = states;
    for (const given of [states, silent]) {
      const metrics = await learner.trainBehaviour(createGenerator(2), given);
      expect(Number.isFinite(metrics['loss/policy'])).toBe(true);
    }
    const { predicted } = await learner.openLoop(createGenerator(3));
    expect(predicted['rewards'].shape).toEqual([4, 4]);
    run.dispose();
  });

  it('is refused for a game of one, and for unknown kinds', () => {
    const alone = { ...small, game: catchGame(), id: 'agent_0' };
    expect(() => dreamerAgent({ ...alone, coPlayers: 'moa' })).toThrow(/at least two agents/);
    expect(() => dreamerAgent({ ...alone, coPlayers: 'all' as never })).toThrow(/coPlayers/);
  });
});
