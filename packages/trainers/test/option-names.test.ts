import { cosine } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { observationsWorldModel } from '@coplay/models';
import { describe, expect, it } from 'vitest';
import { createWorldModel, hopAgent, hopPlusAgent, ppoAgent, sharedPpoAgents, socialInfluenceAgent } from '../src';
import { tinyGame } from './games';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
const seat = { game, id: 'agent_0' };
const ppo = (options: object) => () => ppoAgent({ ...seat, ...options });
const hop = (options: object) => () => hopAgent({ ...seat, ...options });
const plus = (options: object) => () => hopPlusAgent({ ...seat, ...options });
const unknown = (name: string) => `expected known options only, got the unknown option "${name}".`;

describe('an unknown option', () => {
  it('of an annealed value is refused with the names that it has', () => {
    const message = `ppoAgent: entropyWeight: ${unknown('over')} The options are: from, to, by.`;
    expect(ppo({ ppo: { entropyWeight: { from: 1, to: 0, over: 0.5 } } })).toThrow(message);
  });

  it.each([
    ['PPO', ppo({ entropyWeight: 0.1 }), 'entropyWeight belongs in ppo: { entropyWeight: ... }. The options are: game'],
    ['PPO, its inputs', ppo({ agentId: true }), 'agentId belongs in inputs: { agentId: ... }.'],
    ['PPO, inside ppo', ppo({ ppo: { critic: 'own' } }), 'critic belongs next to ppo. The options are: gamma, lambda,'],
    [
      'social influence',
      () => socialInfluenceAgent({ ...seat, attempts: true } as never),
      'attempts belongs in moa: { attempts: ... }.',
    ],
    ['HOP', hop({ simulations: 8 }), 'simulations belongs in search: { simulations: ... }.'],
    ['HOP, its search', hop({ search: { gamma: 0.9 } }), 'gamma belongs in hop: { gamma: ... }. The options are: sim'],
    ['HOP, its simulator', hop({ simulator: { minAccuracy: 0 } }), 'minAccuracy belongs next to simulator.'],
    ['HOP, its models', hop({ moa: { goals: 'none' } }), 'goals belongs next to moa.'],
    ['HOP+', plus({ horizon: 4 }), 'horizon belongs in imagined: { horizon: ... }, or in omg: { horizon: ... }.'],
    [
      'HOP+, its world model',
      plus({ worldModel: { minAccuracy: 0 } }),
      'minAccuracy belongs in imagined: { minAccuracy: ... }, or in treeSearch: { minAccuracy: ... }. The options are: model,',
    ],
    ['HOP+, its models', plus({ moa: { executor: 'onnx' } }), 'executor belongs next to moa.'],
    ['HOP+, its search', plus({ treeSearch: { gamma: 0.9 } }), 'gamma belongs in ppo: { gamma: ... }.'],
  ])('that another record has is refused with its place: %s', (_, make, place) => {
    expect(make).toThrow(place);
  });

  it('of a tree search is refused with the names of its own options', () => {
    const listed =
      /treeSearch: .*"depth"\. The options are: plays, target, minAccuracy, interOM, intraOM, uniformGoals, simulations, trees, .*\.$/;
    expect(plus({ treeSearch: { depth: 3 } })).toThrow(listed);
    expect(plus({ treeSearch: { depth: 3 } })).not.toThrow(/simulator|networkInputs/);
  });

  it('of several agents is refused with the name for their ids', () => {
    expect(() => sharedPpoAgents({ game, id: 'agent_0' } as never)).toThrow('The options are: game, ppo, ids, network');
  });
});

it('an annealed value refuses the schedules of core, and says so', () => {
  const message =
    'ppoAgent: option entropyWeight: expected a number, or a straight line { from, to, by? } ' +
    '(functions such as cosine() are not taken here), got function';
  expect(ppo({ ppo: { entropyWeight: cosine(1, 0) } })).toThrow(message);
});

describe('a world model', () => {
  const model = 'options of createWorldModel, such as { model: observationsWorldModel() }, got function';

  it('given as the model alone is refused with the record that takes it', () => {
    expect(plus({ worldModel: observationsWorldModel() })).toThrow(
      `hopPlusAgent: option worldModel: expected "rules", or false, or ${model}`,
    );
    expect(hop({ simulator: observationsWorldModel() })).toThrow(
      `hopAgent: option simulator: expected "game", or ${model}`,
    );
  });

  it('given with options of its model is refused with their place', () => {
    const place = (name: string) =>
      `expected options of createWorldModel, got "${name}", an option of observationsWorldModel. ` +
      `Give it to the model: { model: observationsWorldModel({ ${name}: ... }) }.`;
    expect(plus({ worldModel: { view: 'own' } })).toThrow(`hopPlusAgent: option worldModel: ${place('view')}`);
    expect(hop({ simulator: { history: 4 } })).toThrow(`hopAgent: option simulator: ${place('history')}`);
    expect(() => createWorldModel({ game, tolerance: 0.1 } as never)).toThrow(
      `createWorldModel: ${place('tolerance')}`,
    );
  });

  it('is what HOP needs where agents see a part of the state, as its message says', () => {
    const remedy = "or give simulator: { model: observationsWorldModel({ view: 'own' }) }.";
    expect(hop({ game: tinyGame({ reward: () => 0 }) })).toThrow(remedy);
  });
});
