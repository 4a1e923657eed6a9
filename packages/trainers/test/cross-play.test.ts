import type { Agent } from '@coplay/core';
import { createGenerator } from '@coplay/core';
import { cartPole, matrixGame, nearestHare, nearestStag, randomAgent, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { crossPlay, exploitability, frozen, memoryOneAgent, ppoAgent } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(() => useBackend('wasm'));

/** Of the prisoner's dilemma: both cooperate 2, both defect 1; a defector among cooperators earns 3, they 0. */
const payoffs = [
  [2, 0],
  [3, 1],
];
const dilemma = matrixGame({ payoffs, actionNames: ['cooperate', 'defect'], maxSteps: 3 });

const always =
  (action: number) =>
  (id: string): Agent<null> => ({
    id,
    name: `always ${action}`,
    initialState: () => null,
    act: ({ rows }, state) => ({ actions: new Int32Array(rows).fill(action), state }),
  });
/** Logits of cooperation after 2 own + other of the last round, and at the start; 40 is certain. */
const titForTat = (id: string) => {
  return memoryOneAgent({ game: dilemma, id, parameters: Float64Array.of(40, -40, 40, -40, 40) });
};

describe('crossPlay', () => {
  it('plays each policy with itself and each two with each other, in both seats', async () => {
    const { plays, policies, agents } = await crossPlay({
      game: dilemma,
      policies: { nice: always(0), mean: always(1) },
      episodes: 2,
    });
    expect([policies, agents]).toEqual([
      ['nice', 'mean'],
      ['agent_0', 'agent_1'],
    ]);
    const returns = Object.fromEntries(plays.map((play) => [play.seating.join(), [...play.returns]]));
    // Three rounds each.
    expect(returns).toEqual({
      'nice,nice': [6, 6, 6, 6],
      'mean,mean': [3, 3, 3, 3],
      'nice,mean': [0, 9, 0, 9],
      'mean,nice': [9, 0, 9, 0],
    });
  });

  it('plays one agent among agents of another policy in all other seats', async () => {
    const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 1, maxSteps: 4 });
    const policies = {
      stags: (id: string) => nearestStag({ game, id }),
      hares: game.agents.map((id) => nearestHare({ game, id })),
    };
    const { plays } = await crossPlay({ game, policies, episodes: 1, seats: ['agent_1'] });
    expect(plays.map(({ seating }) => seating)).toEqual([
      ['stags', 'stags', 'stags'],
      ['hares', 'hares', 'hares'],
      ['hares', 'stags', 'hares'],
      ['stags', 'hares', 'stags'],
    ]);
  });

  it('refuses policies without an agent for each seat, by name', async () => {
    const policies = { mine: [always(0)('agent_0')] };
    await expect(crossPlay({ game: dilemma, policies })).rejects.toThrow('option policies.mine');
    await expect(crossPlay({ game: dilemma, policies: {} })).rejects.toThrow('one policy or more');
    const seats = ['nobody'];
    await expect(crossPlay({ game: dilemma, policies: { a: always(0) }, seats })).rejects.toThrow('got "nobody"');
  });
});

describe('exploitability', () => {
  it('of cooperators is what a defector earns more', async () => {
    const agents = dilemma.agents.map(always(0));
    const { value, bestResponse, gain, nashConv } = await exploitability({ game: dilemma, agents, draws: 1 });
    expect(value).toEqual({ agent_0: 6, agent_1: 6 });
    expect(bestResponse).toEqual({ agent_0: 9, agent_1: 9 });
    expect([gain['agent_0'], nashConv]).toEqual([3, 6]);
  });

  it('of defectors is 0: they are in an equilibrium', async () => {
    expect((await exploitability({ game: dilemma, agents: dilemma.agents.map(always(1)), draws: 1 })).nashConv).toBe(0);
  });

  it('of tit for tat is one defection, in the last round', async () => {
    // Cooperate, cooperate, defect: 2 + 2 + 3, against 6.
    const agents = dilemma.agents.map(titForTat);
    const { bestResponse, gain } = await exploitability({ game: dilemma, agents, draws: 1 });
    expect(bestResponse['agent_0']).toBe(7);
    expect(gain).toEqual({ agent_0: 1, agent_1: 1 });
  });

  it('of drawn actions is estimated by their shares', async () => {
    const agents = dilemma.agents.map((id) => randomAgent({ game: dilemma, id }) as Agent);
    const { value, bestResponse } = await exploitability({ game: dilemma, agents, draws: 5_000 });
    // Each round pays (2 + 0 + 3 + 1) / 4 among random players, and (3 + 1) / 2 to a defector. Three standard errors
    // of the share of 5,000 draws are 0.021, times a difference of payoffs of 2, in each of three rounds.
    expect(Math.abs(value['agent_0'] - 4.5)).toBeLessThan(0.13);
    expect(Math.abs(bestResponse['agent_0'] - 6)).toBeLessThan(0.13);
  });

  it('of a learned policy reads its probabilities', async () => {
    const agents = dilemma.agents.map((id) => ppoAgent({ game: dilemma, id, network: mlp({ hidden: [2] }) }));
    for (const { learner } of agents) await learner.initialise(createGenerator(3));
    const exact = await exploitability({ game: dilemma, agents, draws: 1 });
    const estimated = await exploitability({ game: dilemma, agents: agents.map((one) => frozen(one)), draws: 5_000 });
    expect(Math.abs(exact.nashConv - estimated.nashConv)).toBeLessThan(0.1);
    expect(exact.nashConv).toBeGreaterThan(0);
    for (const { learner } of agents) learner.dispose();
  });

  it('refuses chance, memories and too many states, by name', async () => {
    const hunt = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 });
    const hunters = hunt.agents.map((id) => nearestStag({ game: hunt, id }));
    await expect(exploitability({ game: hunt, agents: hunters })).rejects.toThrow('a game without chance');
    const remembering = { ...always(0)('agent_0'), save: () => ({}), restore: () => undefined };
    const agents = [remembering, always(0)('agent_1')];
    await expect(exploitability({ game: dilemma, agents })).rejects.toThrow('agents without a memory');
    const plain = dilemma.agents.map(always(0));
    await expect(exploitability({ game: dilemma, agents: plain, states: 5 })).rejects.toThrow('at most 5 states');
    const pole = cartPole();
    const one = [always(0)(pole.agents[0])];
    await expect(exploitability({ game: pole, agents: one })).rejects.toThrow('a game without chance');
  });
});
