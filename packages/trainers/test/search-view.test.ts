import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  ndarray,
  startsFrom,
  vectorEnv,
} from '@coplay/core';
import { matrixGame, randomAgent, snowdrift } from '@coplay/envs';
import { mlp, observationsWorldModel } from '@coplay/models';
import { createWorldModel } from '@coplay/trainers';
import { describe, expect, it } from 'vitest';
import { seenBy } from '../src/training/own-view';
import { type SearchedStep, SearchView } from '../src/training/search-view';
import { scoreRows } from '../src/world-model/score';

/**
 * Three agents hold numbers that each sees alone; action 1 adds 1 to the own number, 0 keeps it. An agent leaves at 3,
 * and may not add at 2 in odd steps.
 */
function secrets(): Game<'int32'> {
  const A = 3;
  return {
    name: 'secrets',
    agents: ['a', 'b', 'c'],
    actions: 2,
    actionNames: ['keep', 'add'],
    observation: { number: { shape: [4], dtype: 'uint8', kind: 'one-hot' } },
    stateType: 'int32',
    stateSize: A + 1,
    maxSteps: 6,
    infos: [],
    options: {},
    reset(state, offset, generator) {
      state[offset] = 0;
      for (let i = 0; i < A; i++) state[offset + 1 + i] = generator.integer(3);
    },
    step(state, offset, actions, at, _generator, result, row) {
      state[offset]++;
      for (let i = 0; i < A; i++) {
        const plays = state[offset + 1 + i] < 3;
        if (plays) state[offset + 1 + i] += actions[at + i];
        const over = state[offset + 1 + i] >= 3;
        result.rewards[row * A + i] = plays ? 10 * i + actions[at + i] : 0;
        result.terminated[row * A + i] = over ? 1 : 0;
        result.truncated[row * A + i] = !over && state[offset] >= 6 ? 1 : 0;
      }
    },
    legal(state, offset, agent, mask, at) {
      const number = state[offset + 1 + agent];
      mask.set([1, number === 3 || (number === 2 && state[offset] % 2 === 1) ? 0 : 1], at);
    },
    observe(state, offset, agent, out, row) {
      for (let i = 0; i < 4; i++) out['number'][row * 4 + i] = state[offset + 1 + agent] === i ? 1 : 0;
    },
    isActive: (state, offset, agent) => state[offset + 1 + agent] < 3 && state[offset] < 6,
    elapsed: (state, offset) => state[offset],
  };
}

const learnerOf = (game: Game, view: 'own' | 'joint', history = 0) => {
  return createWorldModel({ game, model: observationsWorldModel({ network: mlp({ hidden: [2] }), view, history }) });
};

/** Acts at random, and keeps the states that its view of the game gives it. */
function viewer(game: Game, id: string, { model }: ReturnType<typeof learnerOf>) {
  const seat = game.agents.indexOf(id);
  const coPlayers = async () => new Float32Array(0);
  const view = new SearchView({ name: id, game, model, seat, beliefs: undefined, intra: false, coPlayers });
  const random = randomAgent({ game, id });
  const seen: Float32Array[] = [];
  const agent: Agent<SearchedStep> = {
    id,
    name: 'viewer',
    initialState: (rows) => view.initialState(rows),
    async act(input, before, generator) {
      view.checkCall(input, before, generator);
      const { states } = view.see(input, before);
      seen.push(states.slice() as Float32Array);
      const { actions } = await random.act(input, null, generator);
      return { actions, state: { states, previousActions: input.previousActions.slice() } };
    },
    observe: (step) => view.observe(step),
    save: () => view.save(),
    restore: (saved) => view.restore(saved),
  };
  return { agent, seen };
}

describe("an agent's own states", () => {
  const games: Record<string, [() => Game, 'own' | 'joint']> = {
    'of its own view': [secrets, 'own'],
    'of its own view, on a grid': [() => snowdrift({ size: 3, agents: 3, drifts: 3, maxSteps: 7 }), 'own'],
    'of joint observations, on a grid': [() => snowdrift({ size: 3, agents: 3, drifts: 3, maxSteps: 7 }), 'joint'],
    'of joint observations, where agents see the state': [() => matrixGame({ maxSteps: 4 }), 'joint'],
  };
  for (const [name, [make, view]] of Object.entries(games)) {
    it(`are in play those of recorded experience: ${name}`, async () => {
      const game = make();
      for (const history of [0, 1, 3]) {
        const learner = learnerOf(game, view, history);
        const viewers = game.agents.map((id) => viewer(game, id, learner));
        const env = vectorEnv(game, { envs: 4, seed: 1 });
        const rollout = createRollout(
          env,
          viewers.map(({ agent }) => agent),
          createGenerator(2),
        );
        const [T, S] = [20, learner.model.game.stateSize];
        const experience = await rollout.collect(T);
        let compared = 0;
        for (const [seat, { seen }] of viewers.entries()) {
          const steps = Int32Array.from({ length: 4 * T }, (_, step) => step);
          const { states } = startsFrom(learner.simulator(), experience, steps, seat);
          for (const step of steps) {
            if (experience.active[step * game.agents.length + seat] === 0) continue;
            const [e, t] = [Math.floor(step / T), step % T];
            expect(seen[t].subarray(e * S, (e + 1) * S)).toEqual(states.subarray(step * S, (step + 1) * S));
            compared++;
          }
        }
        expect(compared).toBeGreaterThan(100);
        learner.dispose();
      }
    });
  }

  it('go on after a save, where other agents have left', async () => {
    const game = secrets();
    const learner = learnerOf(game, 'own');
    const first = viewer(game, 'a', learner);
    const others = [randomAgent({ game, id: 'b' }), randomAgent({ game, id: 'c' })];
    const env = vectorEnv(game, { envs: 4, seed: 1 });
    await createRollout(env, [first.agent, ...others], createGenerator(2)).collect(3);
    const second = viewer(game, 'a', learner);
    second.agent.restore!(structuredClone(first.agent.save!()));
    const input = {
      rows: 4,
      observations: { number: new Uint8Array(16) },
      ...{ masks: new Uint8Array(8).fill(1), active: new Uint8Array(4).fill(1), isFirst: new Uint8Array(4) },
      previousActions: new Int32Array(12),
    };
    for (const { agent } of [first, second]) await agent.act(input, agent.initialState(4), createGenerator(1));
    expect(second.seen.at(-1)).toEqual(first.seen.at(-1));
    const playing = [0, 1, 2, 3].map((e) =>
      [1, 2, 3].map((i) => first.seen.at(-1)![e * learner.model.game.stateSize + i]),
    );
    expect(playing.flat().filter((flag) => flag === 0).length).toBeGreaterThan(0);
    expect(() => second.agent.restore!({ playing: [1] })).toThrow(/a\.restore: saved\.playing: expected a Uint8Array/);
    learner.dispose();
  });
});

describe('rows of own views', () => {
  it('have the agents in the order of play from the viewer on, and no other observations', async () => {
    const game = secrets();
    const learner = learnerOf(game, 'own', 1);
    const rollout = createRollout(
      vectorEnv(game, { envs: 1, seed: 3 }),
      game.agents.map((id) => randomAgent({ game, id })),
      createGenerator(1),
    );
    const experience = await rollout.collect(2);
    const rows = learner.transitions(experience);
    const { active, actions, rewards, terminated } = experience;
    let row = 0;
    for (let i = 0; i < 6; i++) {
      if (active[i] === 0) continue;
      const [t, seat] = [Math.floor(i / 3), i % 3];
      const order = [seat, (seat + 1) % 3, (seat + 2) % 3].map((agent) => t * 3 + agent);
      const own = (name: string, width: number) => [...rows[name].data.slice(row * width, (row + 1) * width)];
      expect(own('seat', 1)).toEqual([seat]);
      expect(own('active', 3)).toEqual(order.map((at) => active[at]));
      expect(own('actions', 3)).toEqual(order.map((at) => (active[at] === 1 ? actions[at] : -1)));
      expect(own('next/terminated', 3)).toEqual(order.map((at) => terminated[at]));
      expect(own('rewards', 1)).toEqual([rewards[i]]);
      expect(own('number', 4)).toEqual([...experience.observations['number'].slice(i * 4, i * 4 + 4)]);
      expect(own('masks', 2)).toEqual([...experience.masks.slice(i * 2, i * 2 + 2)]);
      const past = order.map((at) => (t === 0 || active[at - 3] === 0 ? -1 : actions[at - 3]));
      expect(own('past/actions', 3)).toEqual(past);
      row++;
    }
    expect(rows['rewards'].shape).toEqual([row, 1]);
    // There and back.
    const { elapsed: _, rewards: __, ...columns } = rows;
    const before = Object.fromEntries(Object.entries(columns).filter(([name]) => !name.startsWith('next/')));
    const states = learner.model.statesOf!(rows);
    const joint = new Int32Array(row * 3);
    for (let r = 0; r < row; r++) {
      for (let i = 0; i < 3; i++) {
        joint[r * 3 + ((rows['seat'].data[r] + i) % 3)] = rows['actions'].data[r * 3 + i];
      }
    }
    expect(learner.model.encode(states, joint)).toEqual(before);
    learner.dispose();
  });

  it('predict by the rules of seats: a step of the simulator pays the viewer alone', async () => {
    const game = secrets();
    const learner = learnerOf(game, 'own');
    await learner.initialise(createGenerator(1));
    const { model } = learner;
    const simulator = learner.simulator({ sample: false });
    const S = model.game.stateSize;
    const states = new Float32Array(3 * S);
    for (let seat = 0; seat < 3; seat++) {
      const observations = { number: Uint8Array.of(1, 0, 0, 0) };
      const seen = { rows: 1, observations, masks: Uint8Array.of(1, 1), isFirst: Uint8Array.of(1) };
      const nobody = { previousActions: Int32Array.of(-1, -1, -1), active: Uint8Array.of(1, 1, 1) };
      states.set(model.see!(seat, { ...seen, ...nobody }, new Float32Array(S)) as Float32Array, seat * S);
    }
    const result = {
      ...{ rewards: new Float32Array(9).fill(7), terminated: new Uint8Array(9), truncated: new Uint8Array(9) },
      infos: {},
    };
    await simulator.step(states, new Int32Array(9), createGenerator(1), result);
    for (let i = 0; i < 9; i++) if (i % 4 !== 0) expect(result.rewards[i]).toBe(0);
    expect([0, 4, 8].every((i) => result.rewards[i] !== 7)).toBe(true);
    expect([0, 1, 2].map((seat) => model.ownView!.seatOf(states, seat * S))).toEqual([0, 1, 2]);
    learner.dispose();
  });
});

it('the accuracy of own views counts the end of the viewer, who comes first, and not the ends of others', () => {
  const rows = {
    rewards: ndarray(new Float32Array(3), [3, 1]),
    'next/x': ndarray(Uint8Array.of(1, 1, 1), [3, 1]),
    'next/terminated': ndarray(Uint8Array.of(0, 0, 0, 0, 0, 0), [3, 2]),
  };
  const terminated = ndarray(Uint8Array.of(0, 0, 0, 1, 1, 0), [3, 2]);
  const happened = { rewards: rows.rewards, 'next/x': rows['next/x'], terminated };
  expect([...scoreRows(happened, rows, undefined, true).exact]).toEqual([1, 1, 0]);
  expect([...scoreRows(happened, rows).exact]).toEqual([1, 0, 0]);
});

it('seenBy shows all agents what one sees, and all actions of the others as legal', async () => {
  const game = secrets();
  const agents = game.agents.map((id) => randomAgent({ game, id }));
  const played = await createRollout(vectorEnv(game, { envs: 2, seed: 1 }), agents, createGenerator(1)).collect(7);
  const seen: Experience = seenBy(played, 1);
  for (const [from, to] of [
    [played, seen],
    [played.cuts, seen.cuts],
  ]) {
    const rows = from.masks.length / 2;
    for (let i = 0; i < rows; i++) {
      const own = i - (i % 3) + 1;
      const at = (data: ArrayLike<number>, row: number, size: number) =>
        Array.from(data).slice(row * size, (row + 1) * size);
      expect(at(to.observations['number'], i, 4)).toEqual(at(from.observations['number'], own, 4));
      expect(at(to.masks, i, 2)).toEqual(i === own ? at(from.masks, own, 2) : [1, 1]);
    }
    expect(rows).toBeGreaterThan(3);
  }
  expect(seen.actions).toBe(played.actions);
});
