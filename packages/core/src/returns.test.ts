import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CoplayError } from './errors';
import { allocateExperience, type Experience } from './experience';
import { createGenerator, type Generator } from './generator';
import {
  bootstrapValues,
  continuation,
  discountedSum,
  gae,
  lambdaReturns,
  monteCarloReturns,
  type ReturnSteps,
} from './returns';

/** One agent, one environment: `end` holds `-` (goes on), `d` (death), `l` (time limit) for each step. */
function single(rewards: number[], end: string): ReturnSteps {
  const marks = [...end];
  const flags = (letters: string) => Uint8Array.from(marks, (mark) => (letters.includes(mark) ? 1 : 0));
  return {
    envs: 1,
    steps: rewards.length,
    agents: ['agent_0'],
    rewards: Float32Array.from(rewards),
    active: new Uint8Array(rewards.length).fill(1),
    terminated: flags('d'),
    truncated: flags('l'),
    ended: flags('dl'),
  };
}

function expectClose(actual: ArrayLike<number>, expected: readonly number[], digits = 5): void {
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, i) => void expect(actual[i], `index ${i}`).toBeCloseTo(value, digits));
}

// The golden example: r, V, death after t = 2, value 0.6 of what follows t = 4, gamma 0.99.
const steps = single([1, 0, 2, -1, 1], '--d--');
const values = Float32Array.of(0.5, 0.4, 0.3, 0.2, 0.1);
const nextValues = Float32Array.of(0.4, 0.3, 0, 0.1, 0.6);

describe('gae', () => {
  it('gives the golden advantages and returns', () => {
    // By hand from the end: A4 = 1 + .99 x .6 - .1 = 1.494; A3 = -1 + .99 x .1 - .2 + .99 x .95 x 1.494 = .304107;
    // A2 = 2 - .3 (death); A1 = .99 x .3 - .4 + .9405 x 1.7 = 1.49585; A0 = 1 + .99 x .4 - .5 + .9405 x 1.49585.
    const { advantages, returns } = gae({ ...steps, values, nextValues }, { gamma: 0.99, lambda: 0.95 });
    expectClose(advantages, [2.302847, 1.49585, 1.7, 0.304107, 1.494]);
    expectClose(returns, [2.802847, 1.89585, 2, 0.504107, 1.594]);
  });

  it('pays an end with nothing, also at the last index (P04)', () => {
    // gamma 1, lambda 0: A1 = 0 + 0 - V1 = -1; shifted by one step it would be 100 - 1 = 99.
    const stream = single([0, 0, 0], '-d-');
    const critic = Float32Array.of(1, 1, 100);
    const next = bootstrapValues({ ...stream, cuts: cutAfter(2) }, critic, Float32Array.of(100));
    const { advantages } = gae({ ...stream, values: critic, nextValues: next }, { gamma: 1, lambda: 0 });
    expectClose(advantages, [0, -1, 0]);
    const last = single([0, 0], '-d');
    const lastNext = bootstrapValues({ ...last, cuts: noCuts }, Float32Array.of(1, 1), new Float32Array(0));
    expectClose(lastNext, [1, 0]);
    expectClose(
      gae({ ...last, values: critic.subarray(0, 2), nextValues: lastNext }, { gamma: 1, lambda: 0 }).advantages,
      [0, -1],
    );
  });

  it('refuses arrays of another size and discounts out of range, by name', () => {
    const bad = { ...steps, values: values.subarray(1), nextValues };
    expect(() => gae(bad, { gamma: 0.99, lambda: 0.95 })).toThrow(/gae: expected values of shape \[E=1, T=5, A=1\]/);
    expect(() => gae({ ...steps, values, nextValues }, { gamma: 1.5, lambda: 0.95 })).toThrow(/gae: option gamma/);
    expect(() => gae({ ...steps, values, nextValues }, { gamma: 1, lambda: Number.NaN })).toThrow(CoplayError);
  });
});

describe('monteCarloReturns', () => {
  it('gives the golden returns, with and without what follows the cut', () => {
    // 2.9602 = 1 + .99^2 x 2; .57806 = -1 + .99 x 1 + .99^2 x .6; without the bootstrap -1 + .99 = -.01.
    expectClose(monteCarloReturns({ ...steps, nextValues }, { gamma: 0.99 }), [2.9602, 1.98, 2, 0.57806, 1.594]);
    expectClose(monteCarloReturns(steps, { gamma: 0.99 }), [2.9602, 1.98, 2, -0.01, 1]);
  });
});

describe('time limits (P01)', () => {
  // Three rewards of 1, cut by a limit; the last observation is worth 2, the next episode's first one 9.
  const stream = single([1, 1, 1, 0], '--l-');
  const critic = Float32Array.of(5, 5, 5, 9);
  const experience = { ...stream, cuts: cutAfter(2, 3) };
  const cutValues = Float32Array.of(2, 9);

  it('are bootstrapped with the value of the final observation', () => {
    // 1 + .9 x 2 = 2.8; 1 + .9 x 2.8 = 3.52; 1 + .9 x 3.52 = 4.168
    const next = bootstrapValues(experience, critic, cutValues);
    const returns = lambdaReturns({ ...stream, nextValues: next }, { gamma: 0.9, lambda: 1 });
    expectClose(returns.subarray(0, 3), [4.168, 3.52, 2.8]);
    expectClose(
      gae({ ...stream, values: critic, nextValues: next }, { gamma: 0.9, lambda: 1 }).returns,
      Array.from(returns),
    );
  });

  it('count as death on request, and the end of the segment does not', () => {
    // 1; 1 + .9 = 1.9; 1 + .9 x 1.9 = 2.71; the last step still sees .9 x 9.
    const next = bootstrapValues(experience, critic, cutValues, { truncation: 'terminal' });
    expectClose(lambdaReturns({ ...stream, nextValues: next }, { gamma: 0.9, lambda: 1 }), [2.71, 1.9, 1, 8.1]);
  });

  it('need a cut, which is asked for by place', () => {
    expect(() => bootstrapValues({ ...stream, cuts: cutAfter(3) }, critic, Float32Array.of(9))).toThrow(
      /bootstrapValues: expected a cut at environment 0, step 2/,
    );
    expect(() => bootstrapValues(experience, critic, Float32Array.of(2))).toThrow(/cutValues of 2 cuts x 1 agents/);
  });
});

describe('random experience', () => {
  it('agrees with sums over whole episodes, agent by agent', () => {
    fc.assert(
      fc.property(
        scenario,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (world, gamma, lambda) => {
          const { experience, values, cutValues } = play(world);
          const next = bootstrapValues(experience, values, cutValues);
          const { advantages, returns } = gae({ ...experience, values, nextValues: next }, { gamma, lambda });
          const expected = bruteForce(experience, values, cutValues, gamma, lambda);
          expectClose(advantages, expected.advantages, 4);
          expectClose(returns, expected.returns, 4);
          expectClose(lambdaReturns({ ...experience, nextValues: next }, { gamma, lambda }), expected.returns, 4);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('does not depend on what stands in unused slots (P19, M02)', () => {
    fc.assert(
      fc.property(scenario, (world) => {
        const clean = play(world);
        const dirty = play(world, Number.NaN);
        const run = ({ experience, values, cutValues }: ReturnType<typeof play>) => {
          const next = bootstrapValues(experience, values, cutValues);
          return gae({ ...experience, values, nextValues: next }, { gamma: 0.9, lambda: 0.8 });
        };
        expect(run(dirty)).toEqual(run(clean));
        expect(run(dirty).advantages.every(Number.isFinite)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('keeps agents and episodes apart: a return goes on only to the same agent in the next step', () => {
    const { experience } = play({ envs: 2, steps: 6, agents: 2, seed: 3 });
    const goesOn = continuation(experience);
    expect(goesOn.length).toBe(24);
    for (let e = 0; e < 2; e++) expect(goesOn.subarray(e * 12 + 10, e * 12 + 12)).toEqual(Uint8Array.of(0, 0));
  });
});

describe('continuation', () => {
  it('stops at an agent’s own end, at a gap, at the end of an episode and of the arrays', () => {
    const stream = single([1, 1, 1, 1, 1], '-----');
    expect(continuation(stream)).toEqual(Uint8Array.of(1, 1, 1, 1, 0));
    expect(continuation({ ...stream, terminated: Uint8Array.of(0, 1, 0, 0, 0) })).toEqual(Uint8Array.of(1, 0, 1, 1, 0));
    expect(continuation({ ...stream, truncated: Uint8Array.of(0, 1, 0, 0, 0) })).toEqual(Uint8Array.of(1, 0, 1, 1, 0));
    expect(continuation({ ...stream, ended: Uint8Array.of(0, 1, 0, 0, 0) })).toEqual(Uint8Array.of(1, 0, 1, 1, 0));
    expect(continuation({ ...stream, active: Uint8Array.of(1, 1, 0, 1, 1) })).toEqual(Uint8Array.of(1, 0, 0, 1, 0));
  });
});

describe('discountedSum', () => {
  it('weighs value t by gamma^t', () => {
    expect(discountedSum([1, 2, 4], 0.5)).toBe(3); // 1 + 1 + 1
    expect(discountedSum([], 0.5)).toBe(0);
  });
});

const noCuts = cutAfter();

function cutAfter(...steps: number[]): Experience['cuts'] {
  return {
    env: new Int32Array(steps.length),
    step: Int32Array.from(steps),
    observations: {},
    masks: new Uint8Array(0),
    previousActions: new Int32Array(0),
  };
}

interface World {
  readonly envs: number;
  readonly steps: number;
  readonly agents: number;
  readonly seed: number;
}

const scenario = fc.record({
  envs: fc.integer({ min: 1, max: 3 }),
  steps: fc.integer({ min: 1, max: 12 }),
  agents: fc.integer({ min: 1, max: 3 }),
  seed: fc.nat(1_000_000),
});

/** Random streams in which agents die one by one and limits cut the rest; unused slots hold `unused`. */
function play({ envs, steps, agents, seed }: World, unused = 0) {
  const generator = createGenerator(seed);
  const observation = { seen: { shape: [], dtype: 'float32' } } as const;
  const game = { agents: Array.from({ length: agents }, (_, i) => `agent_${i}`), actions: 1, observation };
  const experience = allocateExperience(game, envs, steps);
  const { active, terminated, truncated, ended, rewards, lengths } = experience;
  const values = new Float32Array(rewards.length).fill(unused);
  rewards.fill(unused);
  const cuts: { env: number; step: number; values: number[] }[] = [];
  for (let env = 0; env < envs; env++) {
    lengths[env] = 1 + generator.integer(steps);
    let alive = new Array<boolean>(agents).fill(true);
    for (let t = 0; t < lengths[env]; t++) {
      const limit = generator.uniform() < 0.15;
      const row = (env * steps + t) * agents;
      const after = alive.map((lives) => lives && generator.uniform() > 0.2);
      const playsOn = after.some(Boolean);
      for (let i = 0; i < agents; i++) {
        active[row + i] = alive[i] ? 1 : 0;
        terminated[row + i] = after[i] ? 0 : 1;
        truncated[row + i] = limit && after[i] ? 1 : 0;
        if (alive[i]) {
          rewards[row + i] = Math.fround(generator.normal());
          values[row + i] = Math.fround(generator.normal());
        }
      }
      ended[env * steps + t] = limit || !playsOn ? 1 : 0;
      const isCut = playsOn && (limit || t === lengths[env] - 1);
      if (isCut) cuts.push({ env, step: t, values: cutValuesOf(after, generator, unused) });
      alive = limit || !playsOn ? alive.map(() => true) : after;
    }
  }
  const cutValues = Float32Array.from(cuts.flatMap((cut) => cut.values));
  const places = { env: Int32Array.from(cuts, (c) => c.env), step: Int32Array.from(cuts, (c) => c.step) };
  return { experience: { ...experience, cuts: { ...experience.cuts, ...places } }, values, cutValues };
}

function cutValuesOf(alive: boolean[], generator: Generator, unused: number): number[] {
  return alive.map((lives) => {
    const value = generator.normal();
    return lives ? value : unused;
  });
}

/**
 * The definition, as a sum over n-step errors forward in time: A_t = sum_k (gamma lambda)^k delta_{t+k} to the stream's
 * end.
 */
function bruteForce(
  experience: Experience,
  values: Float32Array,
  cutValues: Float32Array,
  gamma: number,
  lambda: number,
) {
  const { steps, agents, cuts } = experience;
  const count = agents.length;
  const advantages = new Array<number>(values.length).fill(0);
  const returns = new Array<number>(values.length).fill(0);
  for (let env = 0; env < experience.envs; env++) {
    for (let i = 0; i < count; i++) {
      const at = (t: number) => (env * steps + t) * count + i;
      for (let start = 0; start < steps; start++) {
        if (experience.active[at(start)] === 0) continue;
        let weight = 1;
        for (let t = start; ; t++) {
          const cut = cuts.env.findIndex((e, n) => e === env && cuts.step[n] === t);
          const died = experience.terminated[at(t)] === 1;
          const next = died ? 0 : cut >= 0 ? cutValues[cut * count + i] : values[at(t + 1)];
          advantages[at(start)] += weight * (experience.rewards[at(t)] + gamma * next - values[at(t)]);
          weight *= gamma * lambda;
          if (died || cut >= 0) break;
        }
        returns[at(start)] = advantages[at(start)] + values[at(start)];
      }
    }
  }
  return { advantages, returns };
}
