/**
 * Follows one observation from a step of the environment to the inputs of the compiled update. The test records every
 * typed array that the packages make, and counts at the end the arrays that hold the observation.
 */
import type { Game, NamedArrays } from '@coplay/core';
import type { PpoAgent } from '@coplay/trainers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const original = { Float32Array, Float64Array, Uint8Array };
let made: ArrayBufferView[] = [];

/** A constructor that records its arrays. */
function noting<Made extends new (...args: never[]) => ArrayBufferView>(type: Made): Made {
  return new Proxy(type, {
    construct(target, args, newTarget) {
      const array = Reflect.construct(target, args, newTarget) as ArrayBufferView;
      made.push(array);
      return array;
    },
  });
}

beforeEach(() => {
  made = [];
  for (const [name, type] of Object.entries(original)) {
    const noted = noting(type as never) as { new (): ArrayBufferView };
    vi.stubGlobal(name, noted);
    type.prototype.constructor = noted as never; // what `slice` and `map` make their copies with
  }
  vi.resetModules();
});

afterEach(() => {
  vi.unstubAllGlobals();
  for (const type of Object.values(original)) type.prototype.constructor = type;
  vi.resetModules();
});

const [ENVS, STEPS, AGENTS] = [3, 2, 2];

/** What an agent sees in a step of an environment: a number that nothing else is. */
const mark = (env: number, step: number, agent: number) => 10_000 + 1000 * env + 100 * step + agent;

/** A game in which every observation is a {@link mark}, in each of its two numbers. */
function markedGame(): Game<'float64'> {
  let envs = 0;
  return {
    name: 'marked',
    agents: ['a', 'b'],
    actions: 2,
    actionNames: ['left', 'right'],
    observation: { view: { shape: [2], dtype: 'float32' } },
    stateType: 'float64',
    stateSize: 2,
    maxSteps: 50,
    infos: [],
    options: {},
    reset: (state, offset) => {
      state[offset] = envs++ % ENVS;
      state[offset + 1] = 0;
    },
    step: (state, offset) => void state[offset + 1]++,
    legal: (_state, _offset, _agent, mask, at) => void mask.fill(1, at, at + 2),
    observe: (state, offset, agent, out, row) => {
      out['view'].fill(mark(state[offset], state[offset + 1], agent), 2 * row, 2 * row + 2);
    },
    isActive: () => true,
    elapsed: (state, offset) => state[offset + 1],
  };
}

/** Buffers that hold a number, and how often. */
function holding(number: number): ArrayBufferLike[] {
  const arrays = made.filter((array) => Array.from(array as Float32Array).includes(number));
  return [...new Set(arrays.map(({ buffer }) => buffer))];
}

/** Compiled functions that note what they are asked, and answer with zeros. */
function recorded(asked: Record<'act' | 'value' | 'update', NamedArrays[]>) {
  const zeros = (shape: number[]) => ({ data: new Float32Array(shape.reduce((a, b) => a * b, 1)), shape });
  const rowsOf = (inputs: NamedArrays) => Object.values(inputs)[0].shape[0];
  const fake = (answer: (inputs: never) => NamedArrays) =>
    Object.assign(async (inputs: never) => answer(inputs), { dispose: () => undefined });
  return {
    act: fake((inputs: NamedArrays) => {
      asked.act.push(inputs);
      return { policy: zeros([rowsOf(inputs), 2]) };
    }),
    value: fake((inputs: NamedArrays) => {
      asked.value.push(inputs);
      return { values: zeros([rowsOf(inputs)]) };
    }),
    update: fake(({ each, shared }: { each: NamedArrays; shared: { table: NamedArrays } }) => {
      asked.update.push(shared.table);
      const names = ['loss', 'gradientNorm', 'surrogate', 'entropy', 'approxKl', 'approxKl1', 'clipFraction', 'critic'];
      return Object.fromEntries(names.map((name) => [name, zeros([each['places'].shape[0]])]));
    }),
  };
}

it.each(['own', 'shared'] as const)(
  'an observation is written into 4 arrays at most (%s weights)',
  { tags: ['slow'] },
  async (weights) => {
    const { ppoAgent, selfPlay, sharedPpoAgents } = await import('@coplay/trainers');
    const { createGenerator } = await import('@coplay/core');
    const game = markedGame();
    const agents: PpoAgent[] =
      weights === 'own'
        ? game.agents.map((id) => ppoAgent({ game, id, executor: 'eager' }))
        : sharedPpoAgents({ game });
    const asked = { act: [], value: [], update: [] } as Record<'act' | 'value' | 'update', NamedArrays[]>;
    const learners = [...new Set(agents.map(({ learner }) => learner))];
    const encoded = learners.map(({ setup }) => vi.spyOn(setup.actorEncoder, 'encode'));
    for (const learner of learners) {
      await learner.initialise(createGenerator(1));
      learner.network.replace(recorded(asked) as never);
    }
    const run = selfPlay({ game, agents, envs: ENVS, steps: STEPS });
    await run.train({ envSteps: ENVS * STEPS });

    // Of the last step before the update: the arrays of steps before it are used again.
    const number = mark(1, STEPS - 1, 1);
    // What the agent is given, that as its network reads it, the experience, and the table of the update.
    expect(holding(number)).toHaveLength(4);
    const tables = asked.update.map((table) => table['actor/view' in table ? 'actor/view' : 'actor/vector'].data);
    const table = tables.find((data) => Array.from(data).includes(number))!;
    expect(holding(number)).toContain(table.buffer);
    // The critic read the very same memory.
    const values = asked.value.map((inputs) => inputs['critic/vector'].data);
    expect(values.find((data) => Array.from(data).includes(number))?.buffer).toBe(table.buffer);
    // Encoded: each step to act, the experience, and its cuts.
    const calls = encoded.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
    expect(calls).toBe(AGENTS * (STEPS + 2));
    run.dispose();
  },
);
