import { createGenerator, createRollout, vectorEnv } from '@coplay/core';
import { matrixGame, stagHunt } from '@coplay/envs';
import { iteratedGame, type Lola, type LolaOptions, lola, memoryOneAgent } from '@coplay/trainers';
import { describe, expect, it } from 'vitest';

/** As in Foerster et al. 2018: action 0 cooperates. */
const dilemma = matrixGame({
  payoffs: [
    [-1, -3],
    [0, -2],
  ],
});
const pennies = matrixGame({
  payoffs: [
    [
      [1, -1],
      [-1, 1],
    ],
    [
      [-1, 1],
      [1, -1],
    ],
  ],
});
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const chance = (logit: number) => 1 / (1 + Math.exp(-logit));

function trained(options: Omit<LolaOptions, 'seed'>, steps: number) {
  return SEEDS.map((seed) => {
    const pair = lola({ ...options, seed });
    pair.train(steps);
    return pair;
  });
}

describe('iteratedGame', () => {
  it('finds the payoffs of both players in the same order', () => {
    const { payoffs } = iteratedGame(dilemma, 0.9);
    expect(payoffs.map((own) => [...own])).toEqual([
      [-1, -3, 0, -2],
      [-1, 0, -3, -2],
    ]);
    expect([...iteratedGame(pennies, 0.9).payoffs[1]]).toEqual([-1, 1, 1, -1]);
  });

  it('refuses other games, and to play for ever without a discount', () => {
    expect(() => iteratedGame(stagHunt({ size: 4 }), 0.9)).toThrow(/two players and two actions/);
    expect(() => iteratedGame(dilemma, 1)).toThrow(/\[0, 1\)/);
  });
});

describe('lola', () => {
  it('comes to cooperate in the dilemma, where naive learners defect: about -1 and -2 a round, as in the paper', () => {
    const aware = trained({ game: dilemma }, 300);
    const payoffs = aware.map((pair) => mean(pair.meanPayoffs()));
    expect(mean(payoffs)).toBeGreaterThan(-1.15);
    expect(Math.min(...payoffs)).toBeGreaterThan(-1.6); // no seed stays with defection
    const naive = trained({ game: dilemma, learners: ['naive', 'naive'] }, 300);
    for (const pair of naive) for (const payoff of pair.meanPayoffs()) expect(payoff).toBeCloseTo(-2, 1);
  });

  it('repays like with like: after mutual cooperation it cooperates, after being cheated it does not', () => {
    const aware = trained({ game: dilemma }, 300);
    const after = (last: number) => mean(aware.flatMap(({ parameters }) => parameters.map((own) => chance(own[last]))));
    const [both, cheated, bothDefect, start] = [after(0), after(1), after(3), after(4)];
    expect(both).toBeGreaterThan(0.9);
    expect(start).toBeGreaterThan(0.8);
    expect(cheated).toBeLessThan(0.3);
    expect(bothDefect).toBeLessThan(both);
  });

  it('settles on the equilibrium of matching pennies, where naive learners run away', { tags: ['learning'] }, () => {
    const farthest = (pairs: ReturnType<typeof trained>) =>
      pairs.map(({ parameters }) =>
        Math.max(...parameters.flatMap((own) => [...own].map((x) => Math.abs(chance(x) - 0.5)))),
      );
    // The equilibrium attracts from nearby: with a spread of 0.7, all of 100 seeds settle; with 1, five of them begin
    // too far away.
    const near = { game: pennies, discount: 0.9, spread: 0.5 };
    const aware = farthest(trained(near, 1500));
    expect(Math.max(...aware)).toBeLessThan(1e-3);
    const naive = farthest(trained({ ...near, learners: ['naive', 'naive'] }, 1500));
    expect(Math.min(...naive)).toBeGreaterThan(0.4);
  });

  it('is naive without a look-ahead, and each player learns in its own way', () => {
    const parametersOf = (options: Partial<LolaOptions>) => {
      const pair = lola({ game: dilemma, seed: 3, ...options });
      pair.train(5);
      return pair.parameters.map((own) => [...own]);
    };
    const naive = parametersOf({ learners: ['naive', 'naive'] });
    expect(parametersOf({ lookAhead: 0 })).toEqual(naive);
    const oneStep = (learners: LolaOptions['learners'] & {}) => {
      const pair = lola({ game: dilemma, seed: 3, learners });
      pair.train(1);
      return pair.parameters.map((own) => [...own]);
    };
    const [first, second] = [oneStep(['lola', 'naive']), oneStep(['naive', 'lola'])];
    const [both, none] = [oneStep(['lola', 'lola']), oneStep(['naive', 'naive'])];
    expect([first[0], second[1]]).toEqual(both);
    expect([second[0], first[1]]).toEqual(none);
    expect(both[0]).not.toEqual(none[0]);
  });

  it('treats both players equally: with swapped parameters it learns swapped parameters', () => {
    const one = lola({ game: dilemma, seed: 5 });
    const swapped = lola({ game: dilemma, seed: 6 });
    const { parameters } = one;
    swapped.restore({ updates: 0, parameters: [parameters[1].slice(), parameters[0].slice()] });
    one.train(20);
    swapped.train(20);
    for (const player of [0, 1]) {
      [...swapped.parameters[player]].forEach((value, s) => {
        expect(value).toBeCloseTo(one.parameters[1 - player][s], 8);
      });
    }
  });

  it('goes on to the bit from a saved state', () => {
    const whole = lola({ game: dilemma, seed: 7 });
    whole.train(30);
    const first = lola({ game: dilemma, seed: 7 });
    first.train(10);
    const second = lola({ game: dilemma, seed: 8 });
    second.restore(structuredClone(first.state()));
    second.train(20);
    expect(second.updates).toBe(30);
    expect(second.parameters).toEqual(whole.parameters);
  });

  it('refuses what it cannot learn with', () => {
    expect(() => lola({ game: stagHunt({ size: 4 }) })).toThrow(/two players and two actions/);
    expect(() => lola({ game: dilemma, stepSize: 0 })).toThrow(/stepSize/);
    expect(() => lola({ game: dilemma, lookahead: 1 } as unknown as LolaOptions)).toThrow(/unknown option/);
    const wild = lola({ game: dilemma, stepSize: Number.MAX_VALUE, seed: 1 });
    expect(() => wild.train(10)).toThrow(/lola\.train, step 1:.*finite logits/);
    const pair = lola({ game: dilemma, seed: 1 });
    for (const steps of [1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, '3' as never]) {
      expect(() => pair.train(steps)).toThrow(/lola\.train: steps: expected a whole number/);
    }
    pair.train(0);
    expect(pair.updates).toBe(0);
  });

  it('refuses states that are none, before anything has changed', () => {
    const pair = lola({ game: dilemma, seed: 1 });
    pair.train(3);
    const { updates, parameters } = structuredClone(pair.state()) as unknown as Pick<Lola, 'updates' | 'parameters'>;
    const [one, two] = parameters;
    const changed = (value: number) => ({ updates, parameters: [one, two.with(2, value)] });
    expect(() => pair.restore(changed(Number.NaN))).toThrow(
      /lola\.restore: parameters: expected 5 numbers, got NaN at 2/,
    );
    expect(() => pair.restore(changed(Number.POSITIVE_INFINITY))).toThrow(/lola\.restore: parameters.*finite/);
    expect(() => pair.restore({ updates, parameters: [one] })).toThrow(/two players/);
    expect(() => pair.restore({ updates })).toThrow(/saved\.parameters: expected array/);
    expect(() => pair.restore({ updates, parameters: [one, two.slice(1)] })).toThrow(
      /5 numbers, got Float64Array\(4\)/,
    );
    expect(() => pair.restore({ updates: 0.5, parameters: [one, two] })).toThrow(/updates: expected a whole number/);
    expect(() => pair.restore({ parameters: [one, two] })).toThrow(/updates: expected a number, got undef/);
    expect(pair.parameters).toEqual(parameters);
    expect(pair.updates).toBe(3);
  });
});

describe('memoryOneAgent', () => {
  const titForTat = Float64Array.of(40, -40, 40, -40, 40);
  const played = async (parameters: readonly Float64Array[], steps: number) => {
    const agents = dilemma.agents.map((id, i) => memoryOneAgent({ game: dilemma, id, parameters: parameters[i] }));
    const env = vectorEnv(dilemma, { envs: 64, seed: 1 });
    return createRollout(env, agents, createGenerator(2)).collect(steps);
  };

  it('plays its logits from its own side', async () => {
    const defector = new Float64Array(5).fill(-40);
    const { actions } = await played([defector, titForTat], 3);
    expect([...actions.subarray(0, 6)]).toEqual([1, 0, 1, 1, 1, 1]); // it cooperates once, is cheated, and never again
  });

  it('earns what the exact values say', async () => {
    const pair = lola({ game: dilemma, seed: 2, discount: 0.98 });
    const { rewards } = await played(pair.parameters, 100);
    // From the start each round counts g^t: the same sum over the 100 rounds played, of which the rest is 13 %.
    const discounted = [0, 0];
    let weight = 0;
    for (let t = 0; t < 100; t++) {
      weight += 0.98 ** t;
      for (let e = 0; e < 64; e++)
        for (const i of [0, 1]) discounted[i] += (0.98 ** t * rewards[(e * 100 + t) * 2 + i]) / 64;
    }
    pair.meanPayoffs().forEach((exact, i) => {
      expect(discounted[i] / weight).toBeCloseTo(exact, 1);
    });
  });

  it('refuses parameters and players that do not fit', () => {
    const [id] = dilemma.agents;
    expect(() => memoryOneAgent({ game: dilemma, id, parameters: new Float64Array(4) })).toThrow(/5 numbers/);
    const unknown = titForTat.with(3, Number.NaN);
    expect(() => memoryOneAgent({ game: dilemma, id, parameters: unknown })).toThrow(/option parameters.*NaN at 3/);
    expect(() => memoryOneAgent({ game: dilemma, id: 'nobody', parameters: titForTat })).toThrow(/agent_0 or agent_1/);
  });
});
