import { createPpoBuffer } from '@coplay/buffers';
import { createGenerator, evaluate, type Game, ndarray, parallelEnv, type SavedState } from '@coplay/core';
import { recordEpisode, stagHunt } from '@coplay/envs';
import { cellsWorldModel, mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { hopAgent, hopPlusAgent, type LearningAgent, ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

const IDS = ['__proto__', 'constructor', 'team:red/1', '../../x', 'a b\n"<img src=x onerror=alert(1)>'];
beforeAll(() => useBackend());

const network = mlp({ hidden: [4] });
const smallOmg = { goalDim: 2, hidden: [4], stateUnits: 2, historyUnits: 2 };
const model = cellsWorldModel({ filters: [2], hidden: 4 });

/** A stag hunt of two in which the first agent has an odd name. */
function gameOf(id: string): Game {
  return { ...stagHunt({ size: 4, agents: 2, stags: 1, hares: 2, maxSteps: 4 }), agents: [id, 'hasOwnProperty'] };
}

const AGENTS: Readonly<Record<string, (game: Game, id: string) => LearningAgent>> = {
  ppo: (game, id) => ppoAgent({ game, id, network, ppo: ppoPresets.stagHunt }),
  hop: (game, id) => hopAgent({ game, id, network, moa: { network } }),
  'hop-plus': (game, id) => hopPlusAgent({ game, id, network, moa: { network }, omg: smallOmg, worldModel: { model } }),
};

describe.each(IDS)('an agent called %j', (id) => {
  it('is one like any other in parallelEnv, evaluate, recordEpisode and PPO rows', async () => {
    const game = gameOf(id);
    const env = parallelEnv(game);
    expect(Object.keys(env.reset().observations)).toEqual(game.agents);
    const step = env.step(Object.fromEntries(game.agents.map((agent) => [agent, 0])));
    for (const part of Object.values(step)) expect(Object.keys(part)).toEqual(game.agents);

    const agents = game.agents.map((agent) => AGENTS['ppo'](game, agent));
    const run = selfPlay({ game, agents, envs: 1, steps: 4, log: [] });
    await run.train({ envSteps: 4 });
    expect(Object.keys((await evaluate(game, agents, { episodes: 2 })).returnMean)).toEqual(game.agents);
    expect((await recordEpisode(game, agents)).agents).toEqual(game.agents);
    run.dispose();

    const buffer = createPpoBuffer();
    buffer.push(id, { isImagined: ndarray(Uint8Array.of(0)), actions: ndarray(Int32Array.of(1)) });
    expect(Object.entries(buffer.pushed)).toEqual([[id, { real: 1, imagined: 0 }]]);
  });
});

it.each(Object.entries(AGENTS))(
  '__proto__ stands in the saved models of %s and can be restored',
  async (_, agentOf) => {
    const game = gameOf('__proto__');
    const { learner } = agentOf(game, '__proto__');
    await learner.initialise(createGenerator(1));
    const saved = await learner.state();
    expect(Object.keys((saved['coPlayerModels'] as SavedState) ?? { ['__proto__']: {} })).toEqual(['__proto__']);
    const other = agentOf(game, '__proto__').learner;
    await other.restore(saved);
    expect((await other.state())['coPlayerModels']).toEqual(saved['coPlayerModels']);
  },
);
