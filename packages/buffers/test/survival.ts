import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  ndarray,
  type Rollout,
  vectorEnv,
} from '@coplay/core';

/** What {@link survival} is made with. */
export interface SurvivalOptions {
  readonly agents: number;
  readonly maxSteps: number;
  /** Chance of each agent to die in a step. */
  readonly deathRate: number;
}

/**
 * A game for tests: agents die at random, one by one, and a limit cuts the rest. Every state has a random number in it,
 * which everyone sees, so that an observation tells where it belongs.
 */
export function survival({ agents, maxSteps, deathRate }: SurvivalOptions): Game<'int32'> {
  const ids = Array.from({ length: agents }, (_, i) => `agent_${i}`);
  return {
    name: 'survival',
    agents: ids,
    actions: 3,
    actionNames: ['a', 'b', 'c'],
    observation: {
      vector: { shape: [3], dtype: 'float32' },
      flag: { shape: [], dtype: 'uint8' },
    },
    stateType: 'int32',
    stateSize: 2 + agents, // steps done, random number, who lives
    maxSteps,
    infos: [],
    options: {},
    reset(state, offset, generator) {
      state[offset] = 0;
      state[offset + 1] = generator.integer(1e6);
      state.fill(1, offset + 2, offset + 2 + agents);
    },
    step(state, offset, _actions, _actionsOffset, generator, result, row) {
      state[offset]++;
      state[offset + 1] = generator.integer(1e6);
      for (let i = 0; i < agents; i++) {
        const place = offset + 2 + i;
        const wasAlive = state[place] === 1;
        if (generator.uniform() < deathRate) state[place] = 0;
        const at = row * agents + i;
        result.rewards[at] = wasAlive ? (state[offset + 1] % 100) + i / 4 : 0;
        result.terminated[at] = state[place] === 1 ? 0 : 1;
        result.truncated[at] = state[place] === 1 && state[offset] >= maxSteps ? 1 : 0;
      }
    },
    legal(state, offset, agent, mask, maskOffset) {
      mask.fill(state[offset + 2 + agent], maskOffset, maskOffset + 3);
      mask[maskOffset] = 1;
    },
    observe(state, offset, agent, out, row) {
      const isAlive = state[offset + 2 + agent] === 1;
      out['vector'].set(isAlive ? [state[offset], state[offset + 1], agent] : [-1, -1, -1], row * 3);
      out['flag'][row] = isAlive ? 1 : 0;
    },
    isActive: (state, offset, agent) => state[offset + 2 + agent] === 1,
    elapsed: (state, offset) => state[offset],
  };
}

/** Plays at random and stores numbers that tell agent, call and environment. */
function tagged(id: string, seat: number): Agent<number> {
  return {
    id,
    name: 'Tagged',
    initialState: () => 0,
    act({ rows, active }, calls, generator) {
      const tags = Int32Array.from({ length: rows }, (_, env) => (seat * 1000 + calls) * 100 + env);
      const states = Float32Array.from({ length: rows * 2 }, (_, i) => tags[Math.floor(i / 2)] + (i % 2) / 2);
      return {
        actions: Int32Array.from({ length: rows }, (_, env) => (active[env] === 1 ? generator.integer(3) : 0)),
        state: calls + 1,
        extras: { tag: ndarray(tags), recurrent: ndarray(states, [rows, 2]) },
      };
    },
  };
}

/** Agents that play {@link survival} in `envs` environments. */
export function play(options: SurvivalOptions & { readonly envs: number; readonly seed: number }): Rollout {
  const game = survival(options);
  const env = vectorEnv(game, { envs: options.envs, seed: options.seed });
  return createRollout(env, game.agents.map(tagged), createGenerator(options.seed));
}

/** Everything that is known of one agent's step, for comparisons. */
export function stepOf(x: Experience, env: number, t: number, agent: number): Record<string, unknown> {
  const step = env * x.steps + t;
  const row = step * x.agents.length + agent;
  const count = x.agents.length;
  return {
    vector: [...x.observations['vector'].subarray(row * 3, row * 3 + 3)],
    flag: x.observations['flag'][row],
    mask: [...x.masks.subarray(row * 3, row * 3 + 3)],
    action: x.actions[row],
    previousActions: [...x.previousActions.subarray(step * count, step * count + count)],
    reward: x.rewards[row],
    active: x.active[row],
    terminated: x.terminated[row],
    truncated: x.truncated[row],
    isFirst: x.isFirst[step],
    ended: x.ended[step],
    tag: x.extras['tag'].data[row],
    recurrent: [...x.extras['recurrent'].data.subarray(row * 2, row * 2 + 2)],
  };
}

/** Cuts by environment and step, with what every agent saw. */
export function cutsOf(x: Experience): Record<string, unknown> {
  const { env, step, observations, masks, previousActions } = x.cuts;
  const count = x.agents.length;
  const seen = Array.from(env, (e, n) => [
    `${e} ${step[n]}`,
    {
      vector: [...observations['vector'].subarray(n * count * 3, (n + 1) * count * 3)],
      flag: [...observations['flag'].subarray(n * count, (n + 1) * count)],
      masks: [...masks.subarray(n * count * 3, (n + 1) * count * 3)],
      previousActions: [...previousActions.subarray(n * count, (n + 1) * count)],
    },
  ]);
  return Object.fromEntries(seen);
}
