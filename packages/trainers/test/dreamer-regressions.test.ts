import type { Agent, AgentInput, Game, NamedArrays } from '@coplay/core';
import { createGenerator } from '@coplay/core';
import { executorInfo, tf, useBackend } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import { type DreamerAgent, type DreamerOptions, dreamerAgent, selfPlay, sharedDreamerAgents } from '@coplay/trainers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { COUNT_STEPS, countGame } from './count-game';
import { tinyGame } from './games';
import { leavingGame } from './leaving-game';

// What users of other implementations complained about, a test each. Those of imagination (the return off by one, the
// root's weight, a discount that is folded in twice, the normaliser of returns) are in
// src/dreamer/behaviour-terms.test.ts, the recurrent model's own in models/test/rssm.test.ts, that of memory in
// dreamer-memory.test.ts.

const small = { size: 'debug', batchSize: 2, sequenceLength: 4, horizon: 3 } as const;
/** Above any capacity: nothing is trained on by itself. */
const BY_HAND = 1e6;

beforeAll(async () => {
  await useBackend('wasm');
  useThreads(1); // no trials
});

/** What updates are given, batch by batch. */
async function batchesOf(agent: DreamerAgent, game: Game, envSteps: number, steps: number): Promise<NamedArrays[]> {
  const run = selfPlay({ game, agents: [agent as Agent], envs: 2, steps, seed: 1 });
  const batches: NamedArrays[] = [];
  await agent.learner.initialise(createGenerator(1));
  const { network } = agent.learner;
  const { joint } = network.functions;
  const noting = Object.assign((inputs: NamedArrays) => {
    batches.push(structuredClone(inputs));
    return joint(inputs);
  }, joint) as typeof joint;
  Object.assign(network.functions, { joint: noting });
  await run.train({ envSteps });
  run.dispose();
  return batches;
}

const agentOf = (game: Game, options: DreamerOptions = {}): DreamerAgent =>
  dreamerAgent({ ...small, startAfter: 1, trainRatio: 8, ...options, game, id: 'agent_0' });

describe('2 and 3: what an update is given of a count', () => {
  it.each([
    [true, 1],
    [true, 4],
    [false, 3],
    [false, 7],
  ])('goes up by 1 wherever no episode begins (ends: %s, rollouts of %i steps)', async (terminates, steps) => {
    const game = countGame(terminates);
    const batches = await batchesOf(agentOf(game), game, 2 * 7 * 6, steps);
    let [starts, ends, others] = [0, 0, 0];
    for (const { 'obs/vector': seen, previousActions, rewards, isFirst, isLast, isTerminal } of batches) {
      for (let row = 0; row < 8; row++) {
        const [count, led] = [seen.data[2 * row], seen.data[2 * row + 1]];
        const begins = row % 4 === 0;
        expect(isFirst.data[row]).toBe(count === 0 ? 1 : 0);
        // The action of an index is the one that led to its observation, and its reward came with it.
        expect(previousActions.data[row]).toBe(led);
        expect(rewards.data[row]).toBe(count === 0 ? 0 : 10 * led + count);
        expect(isLast.data[row]).toBe(count === COUNT_STEPS ? 1 : 0);
        expect(isTerminal.data[row]).toBe(count === COUNT_STEPS && terminates ? 1 : 0);
        if (!begins) expect(count).toBe((seen.data[2 * row - 2] + 1) % (COUNT_STEPS + 1));
        if (count === 0) starts++;
        else if (count === COUNT_STEPS) ends++;
        else others++;
      }
    }
    for (const found of [starts, ends, others]) expect(found).toBeGreaterThan(10);
  });

  it('is asked for about as many replayed steps as the train ratio says', async () => {
    const game = countGame();
    const batches = await batchesOf(agentOf(game, { trainRatio: 4 }), game, 400, 4);
    expect(Math.abs((batches.length * 8) / (400 * 4) - 1)).toBeLessThan(0.1);
  });
});

describe('4: a rare success', () => {
  it('is still replayed long after it happened', { tags: ['slow'] }, async () => {
    const game = countGame();
    const agent = agentOf(game, { startAfter: BY_HAND, replayOnline: false });
    const run = selfPlay({ game, agents: [agent as Agent], envs: 1, steps: 5, seed: 1 });
    await run.train({ envSteps: 5 });
    const { replay } = agent.learner as unknown as { replay: { push(rows: NamedArrays, stream: number): void } };
    const saved = (await agent.learner.state()) as unknown as { replay: { buffer: { rows: NamedArrays } } };
    const success = Object.fromEntries(
      Object.entries(saved.replay.buffer.rows).map(([name, { data, shape }]) => {
        return [name, { data: data.slice(0, data.length / shape[0]), shape: [1, ...shape.slice(1)] }];
      }),
    ) as NamedArrays;
    success['rewards'].data[0] = 777;
    replay.push(success, 0);
    await run.train({ envSteps: 2000 });
    const generator = createGenerator(3);
    // About 2,670 records, a window of 4 of which holds it with a chance of 4 / 2,670: in 4,000 windows hardly ever
    // none (e^-6).
    const sampled = agent.learner as unknown as {
      replay: { sample(g: typeof generator, n: number): { rows: NamedArrays } };
    };
    const { rows } = sampled.replay.sample(generator, 4000);
    expect(rows['rewards'].data.includes(777 as never)).toBe(true);
    run.dispose();
  });
});

describe('7: numbers that are not finite', () => {
  const game = tinyGame({ agents: 1, reward: () => 1 });

  it('are refused at the border of the policy, not played with', async () => {
    const agent = agentOf(game);
    await agent.learner.initialise(createGenerator(1));
    const input: AgentInput = {
      rows: 1,
      observations: { cue: Float32Array.of(Number.NaN, 0) },
      masks: Uint8Array.of(1, 1),
      active: Uint8Array.of(1),
      isFirst: Uint8Array.of(1),
      previousActions: Int32Array.of(-1),
    };
    await expect(agent.act(input, agent.initialState(1), createGenerator(2))).rejects.toThrow(
      /field "cue", got NaN for agent_0 in environment 0/,
    );
    const good = { ...input, isFirst: Uint8Array.of(0), observations: { cue: Float32Array.of(1, 0) } };
    const state = { ...agent.initialState(1) };
    state.deter[3] = Number.POSITIVE_INFINITY;
    await expect(agent.act(good, state, createGenerator(2))).rejects.toThrow(/deter\[3\] = Infinity/);
    agent.learner.dispose();
  });

  it('in a batch stop the run by the name of the input, or are left out, and the parameters stay as they were', {
    tags: ['slow'],
  }, async () => {
    const poisoned = tinyGame({ agents: 1, reward: (_, action) => (action === 1 ? Number.NaN : 0) });
    const run = (nonFinite: 'stop' | 'skip') => {
      const agent = agentOf(poisoned, { nonFinite, warmUp: 0 });
      return { agent, run: selfPlay({ game: poisoned, agents: [agent as Agent], envs: 1, steps: 8, seed: 1 }) };
    };
    await expect(run('stop').run.train({ envSteps: 16 })).rejects.toThrow(
      /DreamerV3 \(agent_0\).*rewards\[\d+\] = NaN.*The batch has rewards\[\d+\] = NaN: find out what wrote it/s,
    );
    const skipping = run('skip');
    await skipping.run.train({ envSteps: 64 });
    for (const { data } of Object.values(await skipping.agent.learner.parameters())) {
      expect(data.every(Number.isFinite)).toBe(true);
    }
    skipping.run.dispose();
  });
});

describe('9: memory', () => {
  it('of the replay is its steps times the bytes of one: pictures and classes are bytes there', async () => {
    const game: Game<'uint8'> = {
      ...tinyGame({ agents: 1, reward: () => 0 }),
      observation: { view: { shape: [3, 3, 2], dtype: 'uint8' } },
      observe: (state, offset, _agent, out, row) => void out['view'].fill(state[offset + 1], 18 * row, 18 * row + 18),
    };
    const agent = agentOf(game, { startAfter: BY_HAND });
    const run = selfPlay({ game, agents: [agent as Agent], envs: 1, steps: 4, seed: 1 });
    await run.train({ envSteps: 8 });
    const saved = (await agent.learner.state()) as unknown as { replay: { buffer: { rows: NamedArrays } } };
    const bytes = Object.entries(saved.replay.buffer.rows).map(([name, { data, shape }]) => [
      name,
      data.byteLength / shape[0],
    ]);
    expect(Object.fromEntries(bytes)).toEqual({
      ...{ previousActions: 4, rewards: 4, isFirst: 1, isLast: 1, isTerminal: 1 },
      ...{ 'obs/view': 18, startDeter: 4 * 8, startStoch: 2 },
    });
    run.dispose();
  });
});

describe('11: speed', () => {
  it('an update is one call of a compiled graph where there is an executor for it: no operation runs by itself', async () => {
    expect((await executorInfo()).name).toBe('onnx');
    const game = countGame();
    const agent = agentOf(game, { startAfter: BY_HAND });
    const run = selfPlay({ game, agents: [agent as Agent], envs: 1, steps: 10, seed: 1 });
    await run.train({ envSteps: 40 });
    await agent.learner.train(1, createGenerator(1)); // traced here
    const kernels = vi.spyOn(tf.engine(), 'runKernel');
    await agent.learner.train(3, createGenerator(2));
    expect(kernels).not.toHaveBeenCalled();
    kernels.mockRestore();
    run.dispose();
  });
});

describe('12: several agents', () => {
  it('learn side by side, with weights of their own or shared ones, though one leaves early', {
    tags: ['slow'],
  }, async () => {
    const game = leavingGame({ leaves: [2, Infinity], maxSteps: 5 });
    const options = { ...small, startAfter: 1, trainRatio: 8, game };
    const own = game.agents.map((id) => dreamerAgent({ ...options, id }));
    const shared = sharedDreamerAgents(options);
    for (const agents of [own, shared]) {
      const run = selfPlay({ game, agents: agents as unknown as Agent[], envs: 2, steps: 5, seed: 1 });
      await run.train({ envSteps: 60 });
      for (const { learner } of agents) expect(learner.updates).toBeGreaterThan(10);
      run.dispose();
    }
    expect(own[0].learner).not.toBe(own[1].learner);
    expect(shared[0].learner).toBe(shared[1].learner);
  });
});
