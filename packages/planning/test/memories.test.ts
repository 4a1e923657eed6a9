import type { Game } from '@coplay/core';
import { createGenerator, vectorEnv } from '@coplay/core';
import { snowdrift, stagHunt } from '@coplay/envs';
import {
  createBeliefs,
  createSearch,
  fixedMemory,
  type GoalMemory,
  goalLikelihoods,
  updateBeliefs,
} from '@coplay/planning';
import { describe, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
const { states } = vectorEnv(game, { envs: 1, seed: 1 });
const first = Uint8Array.of(1);
const later = Uint8Array.of(0);

/** A memory that always has this prior. */
function memoryOf(prior: (open: Uint8Array) => readonly number[]): GoalMemory {
  return {
    prior: (_reached, open, from) => Float64Array.from(prior(open.slice(from))),
    add: () => {},
    state: () => ({}),
    restore: () => {},
  };
}

const believer = (prior: (open: Uint8Array) => readonly number[], played: Game = game) =>
  createBeliefs({ game: played, id: 'agent_0', inter: () => memoryOf(prior) });

describe('a memory of your own', () => {
  it('is made once for each co-player and gives the prior of the belief', () => {
    const three = stagHunt({ size: 3, agents: 3, stags: 1, hares: 1 });
    const asked: string[] = [];
    const inter = (id: string) => {
      asked.push(id);
      return fixedMemory(id === 'agent_0' ? [0.25, 0.75] : [1, 0]);
    };
    const beliefs = createBeliefs({ game: three, id: 'agent_1', inter });
    expect(asked).toEqual(['agent_0', 'agent_2']);
    const seen = beliefs.see(vectorEnv(three, { envs: 1, seed: 1 }).states, first);
    expect([...seen]).toEqual([0.25, 0.75, 0, 0, 1, 0]);
    expect([...beliefs.prior('agent_0')]).toEqual([0.25, 0.75]);
  });

  it.each([
    ['too short', [1], /2 numbers, one for each goal, got/],
    ['too long', [0.5, 0.5, 0], /2 numbers, one for each goal, got/],
    ['not finite', [Number.NaN, 1], /expected a .*number.* at index 0, got NaN/],
    ['negative', [-0.5, 1.5], /at index 0, got -0.5/],
    ['no distribution', [1, 1], /numbers that sum to 1, got a sum of 2/],
    ['all zero', [0, 0], /numbers that sum to 1, got a sum of 0/],
  ])('is refused by name when the beliefs are made: %s', (_, prior, message) => {
    expect(() => believer(() => prior)).toThrow(/^createBeliefs: option inter: the memory of agent_1: prior: /);
    expect(() => believer(() => prior)).toThrow(message);
  });

  it('gives a number to the goal that means none, too', () => {
    const snow = snowdrift({ size: 3, agents: 2, drifts: 2 });
    const short = () => believer(() => new Array(9).fill(1 / 9), snow);
    expect(short).toThrow(
      /the memory of agent_1: prior: expected 10 numbers, .*Goal 9, "won't shovel again", counts too/s,
    );
    const shared = (open: Uint8Array) => {
      const count = open.slice(0, 10).reduce((sum, isOpen) => sum + isOpen, 0);
      return Array.from({ length: 10 }, (_, goal) => open[goal] / count);
    };
    expect(believer(shared, snow).prior('agent_1')).toHaveLength(10);
  });

  it.each([
    ['nothing', undefined, /the memory of agent_1/],
    ['a function', () => {}, /the memory of agent_1/],
    ['no memory', { prior: () => Float64Array.of(0.5, 0.5) }, /the memory of agent_1: add: expected a function/],
  ])('has all of its functions: %s', (_, memory, message) => {
    expect(() => createBeliefs({ game, id: 'agent_0', inter: () => memory as never })).toThrow(message);
  });

  it('is made by a function: a class is refused by name', () => {
    class Memory {
      readonly prior = () => Float64Array.of(0.5, 0.5);
    }
    expect(() => createBeliefs({ game, id: 'agent_0', inter: Memory as never })).toThrow(
      /^createBeliefs: option inter: expected a function that makes .*, got the class Memory\. .*new MyMemory/,
    );
    expect(() => createBeliefs({ game, id: 'agent_0', inter: class {} as never })).toThrow(/got the class/);
  });

  it('is refused when the beliefs are made if its prior keeps a goal that is closed', () => {
    const message =
      /the memory of agent_1, called with open\[0\] = 0: prior: expected 0 for goal 0, "stag", .*got 0.7\. .*fixedMemory/s;
    expect(() => believer(() => [0.7, 0.3])).toThrow(message);
    // Every goal can always be reached: the same prior fits.
    const { isOpen: _, ...goals } = game.goals!;
    expect([...believer(() => [0.7, 0.3], { ...game, goals }).prior('agent_1')]).toEqual([0.7, 0.3]);
  });

  it('may be fixed: closed goals have 0, and the others share the rest by their weights', () => {
    const memory = fixedMemory([4, 2, 2]);
    const among = (...open: number[]) => [...memory.prior(0, Uint8Array.from(open), 1)];
    expect(among(9, 1, 1, 1)).toEqual([0.5, 0.25, 0.25]);
    expect(among(9, 0, 1, 1)).toEqual([0, 0.5, 0.5]);
    expect(among(9, 0, 0, 0)).toEqual([0, 0, 0]);
    memory.add(0, 1);
    expect(among(9, 1, 1, 1)).toEqual([0.5, 0.25, 0.25]);
    expect([...fixedMemory([1, 0]).prior(0, Uint8Array.of(0, 1), 0)]).toEqual([0, 1]); // no weight is left
    expect(() => fixedMemory([1, -1])).toThrow(/fixedMemory: weights: .*at index 1, got -1/);
  });

  it('is refused by name whenever its prior is used', () => {
    let prior = [0.5, 0.5];
    let isMade = false;
    const beliefs = believer((open) =>
      isMade ? prior : [open[0] / (open[0] + open[1]), open[1] / (open[0] + open[1])],
    );
    isMade = true;
    beliefs.see(states, first);
    prior = [0.5, Number.NaN];
    expect(() => beliefs.see(states, first)).toThrow(/^beliefs.see: the memory of agent_1: prior: .*got NaN/);
    expect(() => beliefs.prior('agent_1')).toThrow(/^beliefs.prior: the memory of agent_1: prior: .*got NaN/);
    const hares = vectorEnv(game, { envs: 1, seed: 1 });
    hares.reset({ layout: '1.2\n...\n.h.' }); // no stag
    prior = [0.5, 0.5];
    expect(() => beliefs.see(hares.states, first)).toThrow(/prior: expected 0 for goal 0, "stag", .*got 0.5/);
    prior = [0, 1];
    expect([...beliefs.see(hares.states, first)]).toEqual([0, 0, 0, 1]);
  });
});

describe('likelihoods', () => {
  const likelihoods = (of1: readonly number[]) => Float64Array.of(Number.NaN, -1, ...of1);

  it.each([Number.NaN, -0.1, Number.POSITIVE_INFINITY])('of %d are refused by name', (p) => {
    const beliefs = createBeliefs({ game, id: 'agent_0' });
    beliefs.see(states, first, likelihoods([p, p])); // no action yet: they don't matter
    expect(() => beliefs.see(states, later, likelihoods([0.5, p]))).toThrow(
      /^beliefs.see: likelihoods: expected a number, at least 0, for agent_1 and goal "hare" in row 0, got /,
    );
    const both = Uint8Array.of(1, 1);
    const half = Float64Array.of(0.5, 0.5);
    expect(() => updateBeliefs(half, Float64Array.of(0.5, p), both, 2)).toThrow(/updateBeliefs: likelihoods.*index 1/);
    expect(() => updateBeliefs(Float64Array.of(0.5, p), half, both, 2)).toThrow(/updateBeliefs: beliefs.*index 1/);
    expect([...updateBeliefs(half, Float64Array.of(0.5, p), Uint8Array.of(1, 0), 2)]).toEqual([1, 0]);
  });

  it('of agents that left, of goals that are gone, and without intra-OM do not matter', () => {
    const env = vectorEnv(game, { envs: 1, seed: 1 });
    env.reset({ layout: '1.2\n...\n.h.' });
    const beliefs = createBeliefs({ game, id: 'agent_0' });
    beliefs.see(env.states, first);
    expect([...beliefs.see(env.states, later, likelihoods([Number.NaN, 0.5]))]).toEqual([0, 0, 0, 1]);
    const unmoved = createBeliefs({ game, id: 'agent_0', intra: false });
    unmoved.see(states, first);
    expect([...unmoved.see(states, later, likelihoods([Number.NaN, 0.5]))]).toEqual([0, 0, 0.5, 0.5]);
  });

  it('come from log-probabilities, not from logits or NaN', () => {
    const of = (logProb: number) => goalLikelihoods(Float32Array.of(logProb, -1), Int32Array.of(0), 1);
    expect(() => of(0.5)).toThrow(
      /goalLikelihoods: logProbs at index 0: expected a log-probability, at most 0, got 0.5/,
    );
    expect(() => of(Number.NaN)).toThrow(/logProbs at index 0.*got NaN/);
    expect([...of(Number.NEGATIVE_INFINITY)]).toEqual([0]);
  });
});

describe('answers of networks', () => {
  const roots = { rows: 1, states, seats: Int32Array.of(0), generator: createGenerator(1) };
  const K = game.actions;
  const sound = { logits: new Float32Array(K), values: new Float32Array(1) };
  const search = (networks: object) =>
    createSearch({ game, trees: 1, simulations: 1 }).search(roots, networks as never);

  const wrong: readonly [string, object, RegExp][] = [
    ['no focal answer', { focal: () => undefined }, /networks: focal.logits: .*undefined/],
    ['no co-players', { focal: () => sound, coPlayers: () => undefined }, /networks: coPlayers: .*undefined/],
    [
      'short co-players',
      { focal: () => sound, coPlayers: () => new Float32Array(1) },
      /networks: coPlayers: .*at least/,
    ],
    [
      'NaN of co-players',
      { focal: () => sound, coPlayers: () => new Float32Array(K).fill(Number.NaN) },
      /networks: coPlayers: .*NaN/,
    ],
  ];

  it.each(wrong)('are refused by name: %s', async (_, networks, message) => {
    await expect(search(networks)).rejects.toThrow(/^search: answer of networks: /);
    await expect(search(networks)).rejects.toThrow(message);
  });
});

describe('memories of games that are played at once', () => {
  const two = vectorEnv(game, { envs: 2, seed: 1 }).states;
  const [HUNT_STAG, HUNT_HARE] = [game.actionNames.indexOf('hunt stag'), game.actionNames.indexOf('hunt hare')];

  /** An episode in which agent_1 catches the stag in the first game and the hare in the second. */
  const oneEpisode = () => ({
    rows: 2,
    actions: Int32Array.of(HUNT_STAG, HUNT_STAG, HUNT_HARE, HUNT_HARE),
    active: new Uint8Array(4).fill(1),
    rewards: new Float32Array(4),
    ended: Uint8Array.of(1, 1),
    terminated: new Uint8Array(4).fill(1),
    infos: {},
  });
  const play = (memories?: 'shared' | 'perGame') => {
    const beliefs = createBeliefs({ game, id: 'agent_0', ...(memories && { memories }) });
    beliefs.see(two, Uint8Array.of(1, 1));
    beliefs.observe(oneEpisode());
    return beliefs;
  };
  // Counts begin at 1, 1; those of a goal shown: d + 1, the other: d, with d = 0.995.
  const seen = 1.995 / 2.99;

  it('are one by default: both episodes count for it', () => {
    const [stag] = play().prior('agent_1'); // 1, 1 -> 1.995, 0.995 -> d 1.995, d 0.995 + 1
    expect(stag).toBeCloseTo(1.985025 / (1.985025 + 1.990025), 12);
    expect([...play().prior('agent_1', 1)]).toEqual([...play('shared').prior('agent_1')]);
  });

  it('are apart where each game has its own, in what is seen too', () => {
    const beliefs = play('perGame');
    expect(beliefs.prior('agent_1')[0]).toBeCloseTo(seen, 12);
    expect(beliefs.prior('agent_1', 1)[0]).toBeCloseTo(1 - seen, 12);
    const next = beliefs.see(two, Uint8Array.of(1, 1)); // [2, 2, 2]
    expect(next[2]).toBeCloseTo(seen, 12);
    expect(next[6]).toBeCloseTo(1 - seen, 12);
    expect(() => beliefs.prior('agent_1', 2)).toThrow(/beliefs\.prior: row/);
  });

  it('are all saved, and begin anew with another number of games', () => {
    const saved = play('perGame').save();
    const other = createBeliefs({ game, id: 'agent_0', memories: 'perGame' });
    other.restore(saved);
    expect(other.prior('agent_1', 1)[0]).toBeCloseTo(1 - seen, 12);
    expect(other.save()).toEqual(saved);
    expect(() => createBeliefs({ game, id: 'agent_0' }).restore(saved)).toThrow(/beliefs\.restore: saved\.memories/);
    other.see(states, first);
    expect([...other.prior('agent_1')]).toEqual([0.5, 0.5]);
  });
});
