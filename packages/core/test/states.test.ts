/** Experience keeps the game's states, and imagination starts from them. */
import {
  type Agent,
  type AgentInput,
  type AgentStep,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  gameContract,
  imagine,
  rulesSimulator,
  startsFrom,
  vectorEnv,
} from '@coplay/core';
import { describe, expect, it } from 'vitest';

/**
 * A treasure that nobody sees: the state is [steps, treasure, found]; who digs (action 1) at treasure 1 earns 1. Agents
 * see the number of steps only. An episode has 3 steps.
 */
function diggers(observesState = false): Game<'int32'> {
  return {
    name: 'diggers',
    agents: ['a', 'b'],
    actions: 2,
    actionNames: ['wait', 'dig'],
    observation: { clock: { shape: [1], dtype: 'float32', kind: 'vector' } },
    stateType: 'int32',
    stateSize: 3,
    maxSteps: 3,
    infos: [],
    options: {},
    ...(observesState && { observesState }),
    reset(state, offset, generator) {
      state[offset] = 0;
      state[offset + 1] = generator.integer(2);
      state[offset + 2] = 0;
    },
    step(state, offset, actions, at, _generator, result, row) {
      state[offset]++;
      for (let i = 0; i < 2; i++) {
        const found = actions[at + i] === 1 && state[offset + 1] === 1;
        if (found) state[offset + 2]++;
        result.rewards[row * 2 + i] = found ? 1 : 0;
        result.terminated[row * 2 + i] = 0;
        result.truncated[row * 2 + i] = state[offset] >= 3 ? 1 : 0;
      }
    },
    legal: (_state, _offset, _agent, mask, maskOffset) => void mask.fill(1, maskOffset, maskOffset + 2),
    observe(state, offset, _agent, out, row) {
      out['clock'][row] = state[offset];
    },
    isActive: () => true, // until the time is up
    elapsed: (state, offset) => state[offset],
  };
}

/** Digs always; keeps copies of the inputs that it was given. */
function digger(id: string, inputs: AgentInput[] = []): Agent<null> {
  return {
    id,
    name: 'digger',
    initialState: () => null,
    act(input) {
      inputs.push({ ...input, ...(input.states && { states: input.states.slice() }) });
      return { actions: new Int32Array(input.rows).fill(1), state: null };
    },
  };
}

describe('the states of experience', () => {
  it('are those before each step, and at cuts those after it', async () => {
    const env = vectorEnv(diggers(), { envs: 4, seed: 1 });
    const treasures = [0, 1, 2, 3].map((e) => env.states[e * 3 + 1]);
    const { states, cuts } = await createRollout(env, [digger('a'), digger('b')], createGenerator(1)).collect(5);
    expect(states!.shape).toEqual([4, 5, 3]);
    for (let e = 0; e < 4; e++) {
      for (let t = 0; t < 3; t++) {
        const own = Array.from(states!.data.subarray((e * 5 + t) * 3, (e * 5 + t) * 3 + 3));
        expect(own).toEqual([t, treasures[e], 2 * t * treasures[e]]); // both dig in each step
      }
      expect(states!.data[(e * 5 + 3) * 3]).toBe(0); // the next episode
    }
    expect(cuts.states!.shape).toEqual([8, 3]);
    cuts.env.forEach((e, n) => {
      const after = Array.from(cuts.states!.data.subarray(n * 3, n * 3 + 3));
      if (cuts.step[n] === 2) expect(after).toEqual([3, treasures[e], 6 * treasures[e]]);
      else expect(after).toEqual(Array.from(env.states.subarray(e * 3, e * 3 + 3)));
    });
  });

  it('reach an agent only where the game says that agents see all of them', async () => {
    for (const observesState of [false, true]) {
      const inputs: AgentInput[] = [];
      const env = vectorEnv(diggers(observesState), { envs: 2, seed: 3 });
      const before = env.states.slice();
      await createRollout(env, [digger('a', inputs), digger('b')], createGenerator(1)).step();
      expect(inputs[0].states).toEqual(observesState ? before : undefined);
    }
  });

  it('after a step reach such agents too, also the last ones of an episode', async () => {
    for (const observesState of [false, true]) {
      const after: (AgentStep['states'] | undefined)[] = [];
      const watcher = { ...digger('a'), observe: ({ states }: AgentStep) => void after.push(states) };
      const env = vectorEnv(diggers(observesState), { envs: 1, seed: 3 });
      const treasure = env.states[1];
      await createRollout(env, [watcher, digger('b')], createGenerator(1)).collect(3);
      const seen = [1, 2, 3].map((steps) => Int32Array.of(steps, treasure, 2 * steps * treasure));
      expect(after).toEqual(observesState ? seen : [undefined, undefined, undefined]);
    }
  });
});

describe('gameContract', () => {
  it('names a game that says that agents see all of the state, and hides a part', () => {
    expect(gameContract(diggers(), { allocation: false })).toEqual([]);
    const [violation] = gameContract(diggers(true), { allocation: false });
    expect(violation).toMatchObject({ rule: 'observation', where: expect.stringContaining('observesState') });
    expect(violation.got).toMatch(/two, which differ and look the same to a: 0,[01],0 and 0,[01],0/);
  });
});

describe('startsFrom', () => {
  const simulator = rulesSimulator(diggers());

  async function played(): Promise<Experience> {
    const env = vectorEnv(diggers(), { envs: 4, seed: 1 });
    return createRollout(env, [digger('a'), digger('b')], createGenerator(1)).collect(3);
  }

  it('starts from real states, hidden parts included', async () => {
    const experience = await played();
    const steps = Int32Array.of(1, 4, 7, 10); // the second step of each environment
    const starts = startsFrom(simulator, experience, steps);
    const imagined = await imagine(simulator, [digger('a'), digger('b')], starts, {
      horizon: 5,
      generator: createGenerator(2),
    });
    expect(Array.from(imagined.lengths)).toEqual([2, 2, 2, 2]); // two steps are left of each episode
    for (let e = 0; e < 4; e++) {
      // Digging goes on as it went in the real episode.
      expect(imagined.rewards[e * 5 * 2]).toBe(experience.rewards[e * 3 * 2]);
    }
    expect(new Set(imagined.rewards)).toEqual(new Set([0, 1]));
    expect(Array.from(starts.isFirst)).toEqual([0, 0, 0, 0]);
    expect(Array.from(starts.previousActions)).toEqual(new Array(8).fill(1));
  });

  it('names what is missing, or of another game', async () => {
    const { states, ...seen } = await played();
    const steps = Int32Array.of(0);
    expect(() => startsFrom(simulator, seen, steps)).toThrow(
      /experience.states: expected the states of diggers, got none/,
    );
    const cuts = { ...seen.cuts, states: { data: new Float32Array(8), shape: [4, 2] } };
    const others = { ...seen, cuts, states: { data: new Float32Array(24), shape: [4, 3, 2] } };
    expect(() => startsFrom(simulator, others, steps)).toThrow(/states of 3 int32 \(diggers\), got 2 float32/);
    expect(() => startsFrom(simulator, { ...seen, states: states! }, Int32Array.of(12))).toThrow(/steps/);
  });

  it('refuses states that are not numbers', async () => {
    const float = { ...diggers(), stateType: 'float32' } as unknown as Game<'float32'>;
    const env = vectorEnv(float, { envs: 4, seed: 1 });
    const experience = await createRollout(env, [digger('a'), digger('b')], createGenerator(1)).collect(3);
    experience.states!.data[7 * 3 + 1] = Number.NaN; // step 7
    const starts = (...steps: number[]) => startsFrom(rulesSimulator(float), experience, Int32Array.from(steps));
    expect(starts(6, 8).isFirst).toEqual(Uint8Array.of(1, 0));
    expect(() => starts(6, 7)).toThrow(/startsFrom: experience: expected numbers in the state at step 7, got NaN/);
  });
});
