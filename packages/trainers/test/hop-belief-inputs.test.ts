import { type Agent, createGenerator, createRollout, vectorEnv } from '@coplay/core';
import { nearestHare, nearestStag, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { fixedMemory } from '@coplay/planning';
import { useBackend } from '@coplay/tensor';
import { type HopAgent, hopAgent, type LearningAgent, planner, selfPlay, sharedHopAgents } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => void (await useBackend('wasm')));

const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 2, maxSteps: 5 });
const network = mlp({ hidden: [8], activation: 'tanh' });
const small = {
  network,
  search: { simulations: 4, trees: 2 },
  moa: { network, minRows: 1, minibatchSize: 16, capacity: 128 },
  hop: { minibatchSize: 8, minibatches: 1, minRows: 4, capacity: 256 },
};
const make = (options: object = {}) => game.agents.map((id) => hopAgent({ game, id, ...small, ...options }));
const inputSize = async (agent: HopAgent) => {
  await agent.learner.initialise(createGenerator(1));
  const parameters = await agent.learner.parameters();
  return Object.entries(parameters).filter(([name]) => name.includes('kernel'))[0][1].shape[0];
};

/** The search's policy at the start of a game, without simulations: the network's prior, under some belief. */
async function priorUnder(agent: HopAgent, belief: readonly number[]): Promise<number[]> {
  const believer = planner(agent, { simulations: 0, trees: 1, interOM: () => fixedMemory([...belief]) }) as Agent;
  const env = vectorEnv(game, { envs: 1, seed: 3 });
  const others = game.agents.slice(1).map((id) => nearestHare({ game, id }) as Agent);
  const [output] = await createRollout(env, [believer, ...others], createGenerator(2)).step();
  return [...(output.extras!['searchPolicy'].data as Float32Array)];
}

describe('HOP whose networks read its beliefs', () => {
  it('has a number more for each goal of each co-player', async () => {
    const [[without], [reading]] = [make(), make({ beliefInputs: true })];
    expect((await inputSize(reading)) - (await inputSize(without))).toBe(2 * 2);
  });

  it('answers otherwise under another belief, and only then', async () => {
    const [[without], [reading]] = [make(), make({ beliefInputs: true })];
    for (const agent of [without, reading]) await agent.learner.initialise(createGenerator(1));
    const [stag, hare] = [
      [0.9, 0.1],
      [0.1, 0.9],
    ];
    expect(await priorUnder(reading, stag)).not.toEqual(await priorUnder(reading, hare));
    expect(await priorUnder(reading, stag)).toEqual(await priorUnder(reading, stag));
    expect(await priorUnder(without, stag)).toEqual(await priorUnder(without, hare));
  });

  it('reads the co-players in cyclic order from its seat: agents with equal weights see equal things', async () => {
    // Seat 1 believes of seats 2 and 0 what seat 0 believes of seats 1 and 2.
    const of = { agent_0: [0.5, 0.5], agent_1: [0.8, 0.2], agent_2: [0.3, 0.7] } as Record<string, number[]>;
    const turned = { agent_1: [0.5, 0.5], agent_2: [0.8, 0.2], agent_0: [0.3, 0.7] } as Record<string, number[]>;
    const agents = sharedHopAgents({ game, ...small, beliefInputs: true, moa: { ...small.moa } });
    await agents[0].learner.initialise(createGenerator(1));
    const seen: number[][] = [];
    for (const [seat, beliefs] of [of, turned].entries()) {
      const agent = planner(agents[seat], { simulations: 0, trees: 1, interOM: (id) => fixedMemory(beliefs[id]) });
      const input = startOf(seat);
      const { extras } = await agent.act(input, agent.initialState(1), createGenerator(1));
      seen.push([...(extras!['searchPolicy'].data as Float32Array)]);
    }
    seen[0].forEach((p, k) => void expect(seen[1][k]).toBeCloseTo(p, 6));
  });

  it('trains, saves and resumes, and learns from what it believed', { tags: ['slow'] }, async () => {
    const log: number[] = [];
    const partners = { of: (id: string) => [nearestStag({ game, id }) as Agent, nearestHare({ game, id }) as Agent] };
    const run = (agents: readonly LearningAgent[]) => {
      const write = ({ metrics }: { metrics: Record<string, number> }) => void log.push(metrics['hop/value_loss']);
      const sink = { start() {}, write, close() {} };
      return selfPlay({ game, agents, partners, envs: 4, steps: 4, seed: 1, log: [sink] });
    };
    const [first, second] = [run(make({ beliefInputs: true })), run(make({ beliefInputs: true }))];
    await first.train({ envSteps: 64 });
    const saved = await first.state();
    await second.restore(saved);
    await first.train({ envSteps: 96 });
    await second.train({ envSteps: 96 });
    const [expected, got] = [await first.state(), await second.state()];
    for (const one of [first, second]) one.dispose();
    expect(got['learners']).toEqual(expected['learners']);
    expect(log.filter((loss) => loss !== undefined).every(Number.isFinite)).toBe(true);
  });

  it('is refused without beliefs', () => {
    expect(() => make({ beliefInputs: true, goals: 'none' })).toThrow(
      /hopAgent: option beliefInputs: expected an agent with beliefs: goals: 'hindsight', got none/,
    );
  });
});

/** One row at a start in which seats 0 and 1 see the same: the board without anything, an own agent and two others. */
function startOf(seat: number) {
  const env = vectorEnv(game, { envs: 1, seed: 3 });
  const A = game.agents.length;
  const row = <Data extends { slice(from: number, to: number): Data; readonly length: number }>(data: Data, of = 0) => {
    const size = data.length / A;
    return data.slice(of * size, (of + 1) * size);
  };
  return {
    rows: 1,
    // What agent_0 sees, in both seats.
    observations: Object.fromEntries(
      Object.entries(env.observations).map(([name, data]) => [name, row(data as never)]),
    ),
    masks: row(env.masks),
    active: Uint8Array.of(1),
    isFirst: Uint8Array.of(1),
    previousActions: new Int32Array(A).fill(-1),
    seat,
  } as never;
}
