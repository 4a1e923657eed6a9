import {
  type Agent,
  type AgentInput,
  type AgentStep,
  createGenerator,
  createRollout,
  type Game,
  type Generator,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import {
  freeRider,
  mixed,
  nearestDrift,
  nearestHare,
  nearestStag,
  randomAgent,
  snowdrift,
  stagHunt,
} from '@coplay/envs';
import { beliefTracer, createBeliefs, type GoalBeliefs, goalsPerEpisode, seenStates } from '@coplay/planning';
import { describe, expect, it } from 'vitest';
import type { BeliefTrace } from '../src/beliefs/trace';

const game = stagHunt({ size: 6, agents: 2, stags: 1, hares: 2, obstaclePieces: 0 });

/**
 * How often rules that hunt stags, and hares, do what the co-player did: Pr(a | s, g), found by asking them many times.
 */
function likelihoodsOf(
  before: { states: Int32Array; rows: number },
  actions: Int32Array,
  generator: Generator,
): Float64Array {
  const A = game.agents.length;
  const asked = 100;
  const rules = [nearestStag({ game, id: 'agent_1', whenGone: 'stay' }), nearestHare({ game, id: 'agent_1' })];
  const likelihoods = new Float64Array(before.rows * A * 2).fill(1);
  for (let row = 0; row < before.rows; row++) {
    const action = actions[row * A + 1];
    if (action < 0) continue;
    const input = viewOf(before.states.subarray(row * game.stateSize, (row + 1) * game.stateSize), asked);
    rules.forEach((rule, goal) => {
      const answer = rule.act(input, rule.initialState(asked), generator) as { actions: Int32Array };
      const share = answer.actions.filter((other) => other === action).length / asked;
      likelihoods[(row * A + 1) * 2 + goal] = Math.max(share, 0.01);
    });
  }
  return likelihoods;
}

/** What agent_1 sees in a state, `rows` times over. */
function viewOf(state: Int32Array, rows: number): AgentInput {
  const planes = new Uint8Array(rows * 36 * 5);
  const observations = { planes, time: new Float32Array(rows) };
  const masks = new Uint8Array(rows * game.actions);
  for (let row = 0; row < rows; row++) {
    game.observe(state, 0, 1, observations, row);
    game.legal(state, 0, 1, masks, row * game.actions);
  }
  const ones = new Uint8Array(rows).fill(1);
  return { rows, observations, masks, active: ones, isFirst: ones, previousActions: new Int32Array(2 * rows).fill(-1) };
}

/** Acts at random, and believes. */
function believer(beliefs: GoalBeliefs, look: (input: AgentInput, seen: Float64Array) => void): Agent<null> {
  const acts = randomAgent({ game, id: 'agent_0' });
  let before: { states: Int32Array; rows: number } | undefined;
  const generator = createGenerator(9);
  return {
    id: 'agent_0',
    name: 'Believer',
    initialState: () => null,
    act(input, state, random) {
      const states = seenStates(game, input, 0) as Int32Array;
      const likelihoods = before && likelihoodsOf(before, input.previousActions, generator);
      look(input, beliefs.see(states, input.isFirst, likelihoods));
      before = { states, rows: input.rows };
      return { ...acts.act(input, acts.initialState(input.rows), random), state } as {
        actions: Int32Array;
        state: null;
      };
    },
    observe: (step) => beliefs.observe(step),
  };
}

async function play(coPlayer: Agent, steps: number, options: { intra?: boolean; inter?: false } = {}, envs = 4) {
  const beliefs = createBeliefs({ game, id: 'agent_0', ...options });
  const tracers = Array.from({ length: envs }, (_, row) => beliefTracer(game, 'agent_1', row));
  const agent = believer(beliefs, (input, seen) => {
    for (const tracer of tracers) tracer.add(seen, input.isFirst);
  });
  const rollout = createRollout(vectorEnv(game, { envs, seed: 1 }), [agent, coPlayer], createGenerator(1));
  await rollout.collect(steps);
  return { beliefs, traces: tracers.map(({ trace }) => trace) };
}

/** The belief in the stag, episode by episode. */
function episodesOf({ beliefs, starts }: BeliefTrace): number[][] {
  return starts.map((from, i) => beliefs.slice(from, starts[i + 1] ?? beliefs.length).map(([stag]) => stag));
}

describe('beliefs of an agent', () => {
  it('see a NearestStag hunt stags within a few moves that tell, and remember it', async () => {
    const { traces, beliefs } = await play(nearestStag({ game, id: 'agent_1' }), 120);
    for (const trace of traces) {
      const [first] = episodesOf(trace);
      expect(first[0]).toBe(0.5);
      expect(Math.max(...first.slice(0, 12))).toBeGreaterThan(0.9);
    }
    expect(beliefs.prior('agent_1').length).toBe(2);
  });

  it('see a NearestHare hunt hares; the prior follows the counts', async () => {
    const { traces, beliefs } = await play(nearestHare({ game, id: 'agent_1' }), 200);
    const shown = traces.reduce((sum, { starts }) => sum + starts.length, 0) - traces.length;
    expect(shown).toBeGreaterThan(10); // every finished episode of a hare hunter shows the hare
    const hare = 0.995 ** shown + (1 - 0.995 ** shown) / 0.005;
    expect(beliefs.prior('agent_1')[1]).toBeCloseTo(hare / (hare + 0.995 ** shown), 9);
    for (const trace of traces) expect(episodesOf(trace).at(-1)![0]).toBeLessThan(0.3);
  });

  it('without inter-OM every episode begins with the same beliefs; without intra-OM nothing changes while the goals are there', async () => {
    const without = await play(nearestHare({ game, id: 'agent_1' }), 100, { inter: false });
    for (const trace of without.traces) for (const episode of episodesOf(trace)) expect(episode[0]).toBe(0.5);
    const still = await play(nearestHare({ game, id: 'agent_1' }), 20, { intra: false, inter: false });
    for (const [first] of still.traces.map(episodesOf)) expect(new Set(first.slice(0, 2))).toEqual(new Set([0.5]));
  });

  it('go on to the bit after save and restore in the middle of episodes', async () => {
    const record = async (cut: number) => {
      const beliefs = createBeliefs({ game, id: 'agent_0' });
      let other = beliefs;
      const seen: number[][] = [];
      const keeper: GoalBeliefs = {
        ...beliefs,
        id: 'agent_0',
        coPlayers: ['agent_1'],
        goals: 2,
        see: (...args) => other.see(...args),
        observe: (step) => other.observe(step),
        prior: (coPlayer) => other.prior(coPlayer),
        save: () => other.save(),
        restore: (saved) => other.restore(saved),
      };
      const agent = believer(keeper, (_input, now) => {
        seen.push(Array.from(now));
        if (seen.length !== cut) return;
        const saved: SavedState = structuredClone(other.save());
        other = createBeliefs({ game, id: 'agent_0' });
        other.restore(saved);
      });
      const coPlayer = mixed({ game, id: 'agent_1', p: 0.5 });
      const rollout = createRollout(vectorEnv(game, { envs: 3, seed: 5 }), [agent, coPlayer], createGenerator(2));
      await rollout.collect(60);
      return { seen, prior: Array.from(other.prior('agent_1')) };
    };
    const whole = await record(-1);
    for (const cut of [1, 7, 23]) expect(await record(cut)).toEqual(whole);
  });

  it('refuse what they cannot be told of', () => {
    expect(() => createBeliefs({ game, id: 'agent_9' })).toThrow(/option id: expected one of agent_0, agent_1/);
    const { goals: _, ...plain } = game;
    expect(() => createBeliefs({ game: plain as Game, id: 'agent_0' })).toThrow(/a game with goals/);
    const beliefs = createBeliefs({ game, id: 'agent_0' });
    expect(() => beliefs.see(new Int32Array(3), new Uint8Array(2))).toThrow(/2 states/);
    expect(() => beliefs.prior('agent_0')).toThrow(/one of agent_1/);
  });
});

describe('beliefs in the snowdrift game', () => {
  const snow = snowdrift({ size: 4, agents: 3, drifts: 3, maxSteps: 30 });

  it('who shovels is believed to shovel on, who never does not to', async () => {
    const beliefs = createBeliefs({ game: snow, id: 'agent_0' });
    const rides = randomAgent({ game: snow, id: 'agent_0' });
    const agent: Agent<null> = {
      ...freeRider({ game: snow, id: 'agent_0' }),
      initialState: () => null,
      act(input, _state, random) {
        beliefs.see(seenStates(snow, input, 0), input.isFirst);
        const { actions } = rides.act(input, rides.initialState(input.rows), random) as { actions: Int32Array };
        // The observer stays, so that the cleaner alone shovels.
        return { actions: actions.fill(4), state: null };
      },
      observe: (step) => beliefs.observe(step),
    };
    const others = [nearestDrift({ game: snow, id: 'agent_1' }), freeRider({ game: snow, id: 'agent_2' })];
    const rollout = createRollout(vectorEnv(snow, { envs: 1, seed: 1 }), [agent, ...others], createGenerator(1));
    let episodes = 0;
    for (let i = 0; i < 20; i++) episodes += (await rollout.collect(30)).ended.reduce((a, b) => a + b);
    expect(episodes).toBeGreaterThan(20);
    const never = snow.goals!.noGoal!;
    const start = goalsPerEpisode(never).probabilities;
    // The rider shovels 0 in each episode, the cleaner all 3.
    expect(beliefs.prior('agent_2')[never]).toBeCloseTo(1 - (1 - start[0]) * 0.98 ** episodes, 9);
    expect(beliefs.prior('agent_1')[never]).toBeCloseTo(start[0] * 0.98 ** episodes, 9);
  });

  it('after a drift was shovelled beliefs begin again from the memory: who shovelled once may be done', () => {
    const [RIGHT, STAY, SHOVEL] = [3, 4, 5];
    const env = vectorEnv(snow, { envs: 1, seed: 1 });
    env.reset({ layout: '2d..\nd...\n...d\n1..3' });
    const beliefs = createBeliefs({ game: snow, id: 'agent_0' });
    const drifts = [1, 4, 11]; // cells of a 4 x 4 board, row by row
    const isFirst = Uint8Array.of(1);
    const step = (action: number) => {
      const { rows, active } = { rows: 1, active: env.active.slice() };
      const actions = Int32Array.of(STAY, action, STAY);
      env.step(actions);
      const { rewards, terminated, infos } = env.result;
      const { ended } = env;
      beliefs.observe({ rows, active, actions, rewards, terminated, ended, infos } as unknown as AgentStep);
      isFirst[0] = 0;
    };
    const ofCleaner = (likelihoods?: Float64Array) =>
      beliefs.see(env.states as Int32Array, isFirst, likelihoods).slice(17, 34);

    ofCleaner();
    step(RIGHT);
    // What it did in that step speaks for the drift in cell 1 a hundred times more than for anything else.
    const likelihoods = new Float64Array(3 * 17).fill(0.01);
    likelihoods[17 + 1] = 1;
    expect(ofCleaner(likelihoods)[1]).toBeGreaterThan(0.95);
    step(SHOVEL);
    // Poisson(1) cut off after 16: P(count <= 1) = 2 / e to nine digits, the rest for the two drifts that are left.
    const done = 2 / Math.E;
    const after = ofCleaner();
    expect(after[16]).toBeCloseTo(done, 9);
    for (const cell of drifts.slice(1)) expect(after[cell]).toBeCloseTo((1 - done) / 2, 9);
    expect(after[1]).toBe(0);
  });
});
