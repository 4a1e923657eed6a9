import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, type AgentId, type Experience, type LogEntry, type Metrics, ndarray } from '@coplay/core';
import { mixed, nearestHare, nearestStag, randomAgent, stagHunt, titForTat } from '@coplay/envs';
import { useBackend } from '@coplay/tensor';
import { type LearningAgent, type PartnerOptions, pastSelves, ppoAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, test } from 'vitest';

beforeAll(async () => void (await useBackend('wasm')));

const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 2, maxSteps: 6 });
const STAY = game.actionNames.indexOf('stay');
const K = game.actions;

/** An agent that always stays. */
const idler = (id: AgentId, name = 'Idler'): Agent<null> => ({
  id,
  name,
  initialState: () => null,
  act: (input, state) => ({ actions: new Int32Array(input.rows).fill(STAY), state }),
});

/** A learning agent that draws moves (never stays, where it may move), and keeps what it was given to learn from. */
function scholar(id: AgentId): LearningAgent<null> & { readonly seen: Experience[]; readonly asked: number[] } {
  const seen: Experience[] = [];
  const asked: number[] = [];
  return {
    ...{ id, name: 'Scholar', seen, asked },
    initialState: () => null,
    act(input, state, generator) {
      const actions = new Int32Array(input.rows);
      for (let row = 0; row < input.rows; row++) {
        if (input.active[row] === 0) continue;
        const legal = Array.from({ length: K }, (_, k) => k).filter(
          (k) => input.masks[row * K + k] === 1 && k !== STAY,
        );
        actions[row] = legal.length > 0 ? legal[generator.integer(legal.length)] : STAY;
        asked.push(row);
      }
      return { actions, state, extras: { note: ndarray(new Float32Array(input.rows).fill(1)) } };
    },
    learner: {
      ...{ name: id, ids: [id], updates: 0, config: {} },
      initialise: async () => undefined,
      async update({ experience }) {
        seen.push(experience);
        return {};
      },
      state: async () => ({}),
      restore: async () => undefined,
      dispose: () => undefined,
    },
  };
}

/** Trains scholars among partners; everything that happened. */
async function played(partners: PartnerOptions, seed = 1, steps = 24) {
  const agents = game.agents.map(scholar);
  const rollouts: Experience[] = [];
  const metrics: Metrics[] = [];
  const log = { start() {}, write: ({ metrics: one }: LogEntry) => void metrics.push(one), close() {} };
  const run = selfPlay({
    ...{ game, agents, partners, envs: 8, steps, seed },
    log: [log],
    onRollout: (experience) => void rollouts.push(experience),
  });
  await run.train({ envSteps: 8 * steps });
  run.dispose();
  const [experience] = rollouts;
  return { agents, experience, metrics: metrics[0], partner: experience.extras['partner'].data as Uint8Array };
}

/** Rows [E T A] by episode: the first row of each, in order. */
function episodesOf({ envs, steps, isFirst }: Experience): [env: number, from: number, to: number][] {
  const found: [number, number, number][] = [];
  for (let e = 0; e < envs; e++) {
    let from = 0;
    for (let t = 1; t <= steps; t++) {
      if (t < steps && isFirst[e * steps + t] === 0) continue;
      found.push([e, from, t]);
      from = t;
    }
  }
  return found;
}

const of = (id: AgentId) => [idler(id)];

describe('partners of selfPlay', () => {
  test('play whole episodes in some seats, and the learning agent is asked about the others only', async () => {
    const { agents, experience, partner } = await played({ of, share: 0.5 });
    const { steps, actions, active } = experience;
    const shares = [0, 0];
    for (const [env, from, to] of episodesOf(experience)) {
      for (let seat = 0; seat < 3; seat++) {
        const rows = Array.from({ length: to - from }, (_, i) => (env * steps + from + i) * 3 + seat);
        const flags = new Set(rows.map((row) => partner[row]));
        expect(flags.size).toBe(1);
        shares[partner[rows[0]]]++;
        if (partner[rows[0]] === 1) for (const row of rows) if (active[row] === 1) expect(actions[row]).toBe(STAY);
      }
    }
    expect(shares[1] / (shares[0] + shares[1])).toBeGreaterThan(0.35);
    expect(shares[1] / (shares[0] + shares[1])).toBeLessThan(0.65);
    agents.forEach(({ asked }, seat) => {
      let own = 0;
      for (let at = seat; at < active.length; at += 3) own += active[at] === 1 && partner[at] === 0 ? 1 : 0;
      expect(asked).toHaveLength(own);
    });
  });

  test('a learner does not see itself where a partner played, and sees the other seats as they were', async () => {
    const { agents, experience, partner } = await played({ of });
    agents.forEach(({ seen }, seat) => {
      const expected = experience.active.map((flag, i) => (i % 3 === seat && partner[i] === 1 ? 0 : flag));
      expect(seen[0].active).toEqual(expected);
      expect(seen[0].actions).toEqual(experience.actions);
    });
  });

  test('the figures of episodes are those of the learning agents', async () => {
    const alone = await played({ of, share: 1 });
    expect(alone.metrics['episode/count']).toBeGreaterThan(0);
    expect(alone.metrics['episode/return_mean']).toBeUndefined();
    const none = await played({ of, share: 0 });
    const free = selfPlay({ game, agents: game.agents.map(scholar), envs: 8, steps: 24, seed: 1 });
    await free.train({ envSteps: 192 });
    expect(Object.keys(none.metrics)).toContain('episode/return_mean');
    expect([...none.partner].every((flag) => flag === 0)).toBe(true);
  });

  test('are of one kind in an environment, or of kinds of their own', async () => {
    const named = (id: AgentId): Agent[] =>
      [0, 1, 2].map((kind) => {
        return {
          ...idler(id, `kind ${kind}`),
          act: (input, state) => ({ actions: new Int32Array(input.rows).fill(kind), state }),
        };
      });
    const wide = { of: (id: AgentId) => named(id).map((agent) => legally(agent)), share: 1 };
    for (const together of [true, false]) {
      const { experience } = await played({ ...wide, together });
      const { steps, actions } = experience;
      const kinds = episodesOf(experience).map(([env, from]) => {
        const moves = [0, 1, 2].map((seat) => actions[(env * steps + from) * 3 + seat]);
        return new Set(moves.filter((action) => action !== STAY)).size; // of those whose move was legal
      });
      if (together) expect(Math.max(...kinds)).toBe(1);
      else expect(Math.max(...kinds)).toBeGreaterThan(1);
    }
  });

  test('stay for several episodes, and the draws depend on the seed alone', async () => {
    const two = await played({ of, episodes: 3 }, 1, 60);
    const { steps } = two.experience;
    const drawn = new Map<number, number[]>();
    for (const [env, from] of episodesOf(two.experience)) {
      drawn.set(env, [...(drawn.get(env) ?? []), two.partner[(env * steps + from) * 3]]);
    }
    for (const flags of drawn.values()) {
      for (let i = 0; i + 2 < flags.length; i += 3) expect(new Set(flags.slice(i, i + 3)).size).toBe(1);
    }
    const [again, other] = [await played({ of, episodes: 3 }, 1, 60), await played({ of, episodes: 3 }, 2, 60)];
    expect(again.experience.actions).toEqual(two.experience.actions);
    expect(other.partner).not.toEqual(two.partner);
  });

  test('a resumed run gives the same bits', { tags: ['slow'] }, async () => {
    const make = (directory?: string) => {
      const agents = game.agents.map((id) => ppoAgent({ game, id, ppo: { epochs: 1 } }));
      const of = (id: AgentId) => [
        mixed({ game, id, p: 0.3 }) as Agent,
        titForTat({ game, id }) as Agent,
        pastSelves({ id, of: agents[game.agents.indexOf(id)], every: 1, size: 2 }) as Agent,
      ];
      return selfPlay({
        game,
        agents,
        partners: { of, episodes: 2 },
        envs: 4,
        steps: 5,
        seed: 3,
        ...(directory && { directory }),
      });
    };
    const directory = await mkdtemp(join(tmpdir(), 'partners-'));
    const [whole, first, second] = [make(), make(directory), make(directory)];
    await whole.train({ envSteps: 60 }); // in two parts, for schedules end where a training does
    await whole.train({ envSteps: 120 });
    await first.train({ envSteps: 60 });
    expect(await second.resume()).toBe(true);
    await second.train({ envSteps: 120 });
    const [expected, got] = [await whole.state(), await second.state()];
    for (const run of [whole, first, second]) run.dispose();
    await rm(directory, { recursive: true });
    expect(got['rollout']).toEqual(expected['rollout']);
    expect(got['learners']).toEqual(expected['learners']);
    expect(got['memories']).toEqual(expected['memories']);
  });

  test('refusals name the option', () => {
    const agents = game.agents.map(scholar);
    const make =
      (partners: unknown, players: readonly Agent[] = agents) =>
      () =>
        selfPlay({ game, agents: players, partners: partners as PartnerOptions });
    expect(make({})).toThrow(/selfPlay: option partners\.of: .*a function that makes the partners/);
    expect(make({ of: () => [] })).toThrow(/option partners\.of: expected a list of agents for agent_0, at least one/);
    expect(make({ of, share: 2 })).toThrow(/option partners\.share/);
    expect(make({ of, shares: 1 })).toThrow(/partners.*shares/);
    expect(make({ of: () => [idler('agent_2')] })).toThrow(/expected agents with the id agent_0, got "?agent_2/);
    expect(make({ of: (id: AgentId) => [scholar(id)] })).toThrow(/expected agents that do not learn, got Scholar/);
    const other = (id: AgentId) => [id === 'agent_1' ? nearestStag({ game, id }) : nearestHare({ game, id })];
    expect(make({ of: other })).toThrow(
      /expected the kinds that agent_0 has: NearestHare, got NearestStag for agent_1/,
    );
    const rules = game.agents.map((id) => randomAgent({ game, id }));
    expect(make({ of }, rules)).toThrow(/option partners: expected a run with learning agents, got none/);
  });
});

/** The same agent, which stays where its action isn't legal. */
function legally(agent: Agent): Agent {
  return {
    ...agent,
    async act(input, state, generator) {
      const answer = await agent.act(input, state, generator);
      return { ...answer, actions: answer.actions.map((k, row) => (input.masks[row * K + k] === 1 ? k : STAY)) };
    },
  };
}
