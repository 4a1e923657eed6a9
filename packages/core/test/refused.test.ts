import {
  type Agent,
  createGenerator,
  createRollout,
  type Game,
  gameContract,
  imagine,
  parallelEnv,
  rulesSimulator,
  vectorEnv,
} from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { countingGame } from './counting-game';

const game = countingGame({ agents: 2, maxSteps: 4 });

describe('a reset that is refused', () => {
  it.each([
    ['a layout that the game refuses', { seed: 9, layout: 'bad' }],
    ['an environment that is not there', { seed: 9, envs: [0, 7] }],
  ])('for %s changes nothing', (_, options) => {
    const env = vectorEnv(game, { envs: 2, seed: 1 });
    const twin = vectorEnv(game, { envs: 2, seed: 1 });
    expect(() => env.reset(options)).toThrow();
    expect(env.state()).toEqual(twin.state());
    for (const one of [env, twin]) for (let t = 0; t < 6; t++) one.step(new Int32Array(4));
    expect(env.state()).toEqual(twin.state());
  });

  it('changes nothing where the second of two environments fails', () => {
    let resets = 0;
    const failing: Game<'int32'> = {
      ...game,
      reset(state, offset, generator) {
        if (++resets === 4) throw new Error('no room');
        game.reset(state, offset, generator);
      },
    };
    const env = vectorEnv(failing, { envs: 2, seed: 1 });
    const before = env.state();
    expect(() => env.reset({ seed: 9 })).toThrow('no room');
    expect(env.state()).toEqual(before);
  });
});

describe('a state in which the episode is over', () => {
  /** The same game, whose layouts say how many steps are done. */
  const late: Game<'int32'> = {
    ...game,
    readLayout(layout, state, offset) {
      state.fill(0, offset, offset + game.stateSize);
      state[offset] = Number(layout);
    },
  };

  it('is no start of an episode', () => {
    const says = /reset: layout: expected a state from which the episode goes on, got one after 4 of 4 steps/;
    expect(() => vectorEnv(late, { envs: 1 }).reset({ layout: '4' })).toThrow(says);
    expect(() => parallelEnv(late).reset({ options: { layout: '4' } })).toThrow(says);
    const env = vectorEnv(late, { envs: 1 });
    env.reset({ layout: '3' });
    env.step(new Int32Array(2));
    expect([...env.ended]).toEqual([1]);
  });

  it('is refused by imagine, which names its row', async () => {
    const states = Int32Array.of(0, 5, 0, 0, /* all have left */ 1, 5, 1, 1);
    const starts = { states, previousActions: new Int32Array(4).fill(-1), isFirst: Uint8Array.of(1, 0) };
    const agents = game.agents.map((id) => still(id));
    await expect(
      imagine(rulesSimulator(game), agents, starts, { horizon: 2, generator: createGenerator(0) }),
    ).rejects.toThrow(/imagine: states: expected states from which play goes on, got one that is over in row 1/);
  });
});

function still(id: string, observe?: Agent<null>['observe']): Agent<null> {
  const act: Agent<null>['act'] = ({ rows, masks }, state) => ({
    actions: Int32Array.from({ length: rows }, (_, row) => masks.indexOf(1, row * 3) - row * 3),
    state,
  });
  return { id, name: 'still', initialState: () => null, act, ...(observe && { observe }) };
}

describe('an agent that writes into the step it is told', () => {
  it('changes nothing for the others or for the record', async () => {
    const spoil: Agent<null>['observe'] = (step) => {
      for (const array of [step.rewards, step.actions, step.active, step.ended, ...Object.values(step.infos)])
        array.fill(7);
    };
    const collect = (observe?: Agent<null>['observe']) => {
      const agents = [still('agent_0', observe), still('agent_1')];
      return createRollout(vectorEnv(game, { envs: 2, seed: 1 }), agents, createGenerator(0)).collect(6);
    };
    expect(await collect(spoil)).toEqual(await collect());
  });
});

describe('a game that keeps what reset drew outside its state', () => {
  it('is caught by another episode in between', () => {
    let target = 0;
    const hidden: Game<'int32'> = {
      ...game,
      reset(state, offset, generator) {
        game.reset(state, offset, generator);
        target = generator.integer(1000);
      },
      observe(state, offset, agent, out, row) {
        game.observe(state, offset, agent, out, row);
        out['noise'][row] = target;
      },
    };
    expect(gameContract(hidden, { allocation: false })).toMatchObject([
      { rule: 'hidden-state', where: 'counting.observe' },
    ]);
    expect(gameContract(game, { allocation: false })).toEqual([]);
  });
});
