import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, CoplayError, evaluate, type Game, type Saved } from '@coplay/core';
import { limitedView, matrixGame, mixed, nearestStag, pendulum, stagHunt, timeLimit, titForTat } from '@coplay/envs';
import { cellsWorldModel, conv, mlp, observationsWorldModel } from '@coplay/models';
import { torsoBuilder } from '@coplay/models/layers';
import { useBackend } from '@coplay/tensor';
import {
  dreamerAgent,
  hopAgent,
  hopPlusAgent,
  isLearning,
  loadAgents,
  loadRun,
  memoryOneAgent,
  packAgents,
  ppoAgent,
  selfPlay,
  sharedDreamerAgents,
  sharedHopAgents,
  sharedHopPlusAgents,
  sharedPpoAgents,
  socialInfluenceAgent,
  unpackAgents,
} from '@coplay/trainers';
import { loadCheckpoint } from '@coplay/trainers/checkpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 });
const dilemma = matrixGame({ kind: 'prisoners-dilemma', maxSteps: 3 });
const network = mlp({ hidden: [4] });
const ppo = { epochs: 1, minibatchSize: 8, learningRate: { from: 0.1, to: 0.02 } };
const moa = { network, minRows: 1, minibatchSize: 16, capacity: 64 };
const world = { model: cellsWorldModel({ filters: [2], hidden: 2 }), batchSize: 4, stepsPerUpdate: 1 };
const search = { simulations: 2, trees: 1 };
const hop = { network, search, moa, hop: { minRows: 1, minibatches: 1, minibatchSize: 8, gamma: 0.9 } };
const omg = { goalDim: 2, hidden: [2], stateUnits: 2, historyUnits: 2, vaeUpdates: 1, vaeSteps: 1, vaeBatchSize: 4 };
const tiny = { size: 'debug', batchSize: 1, sequenceLength: 2, horizon: 1, updatesPerPhase: 1 } as const;

const folder = mkdtempSync(join(tmpdir(), 'coplay-load-run-'));
beforeAll(() => useBackend('wasm'));
afterAll(() => rmSync(folder, { recursive: true }));

const EPISODES = { episodes: 6, envs: 2, seed: 5 };

/** Trains two updates into a new directory; the returns of an evaluation afterwards. */
async function trained<G extends Game>(name: string, of: G, agents: readonly Agent[]) {
  const directory = join(folder, name);
  const run = selfPlay({ game: of, agents, envs: 2, steps: 4, seed: 3, directory, warn: () => undefined });
  await run.train({ envSteps: 16 });
  const { returns } = await run.evaluate(EPISODES);
  run.dispose();
  return { directory, returns };
}

/** A maker of all agents of a game, for each kind with options of its own. */
const KINDS: Readonly<Record<string, () => readonly Agent[]>> = {
  'PPO of its own, and a rule with options': () => [
    ppoAgent({ game, id: 'agent_0', network, criticNetwork: mlp({ hidden: [3] }), recurrent: 2, ppo }),
    nearestStag({ game, id: 'agent_1', waits: 'stay' }),
  ],
  'MAPPO that shares weights': () =>
    sharedPpoAgents({ game, network: conv({ filters: [2], dense: 4 }), critic: 'joint', reward: 'prosocial', ppo }),
  'rules with memories': () => [
    titForTat({ game, id: 'agent_0', watches: ['agent_1'] }),
    mixed({ game, id: 'agent_1', p: 0.3, whenGone: 'stay' }),
  ],
  'social influence': () =>
    game.agents.map((id) => socialInfluenceAgent({ game, id, network, ppo, moa, influenceWeight: 0.3 })),
  HOP: () => [
    hopAgent({ game, id: 'agent_0', ...hop, uniformGoals: 0, interOM: false, beliefInputs: true }),
    hopAgent({ game, id: 'agent_1', ...hop, uniformGoals: 0, simulator: world, minAccuracy: 0, goals: 'none' }),
  ],
  'HOP that shares weights': () => sharedHopAgents({ game, ...hop, uniformGoals: 0, memories: 'perGame' }) as Agent[],
  'HOP+': () => [
    hopPlusAgent({ game, id: 'agent_0', network, ppo, moa, omg, worldModel: world, imagined: { minAccuracy: 0 } }),
    hopPlusAgent({ game, id: 'agent_1', network, ppo, moa: false, omg: false, worldModel: false, imagined: false }),
  ],
  'HOP+ that shares weights and searches': () =>
    sharedHopPlusAgents({
      ...{ game, network, ppo, moa, worldModel: 'rules', goalPriors: true, omg: { ...omg, epsilon: 0.5 } },
      treeSearch: { ...search, interOM: false, target: 0.1 },
    }) as Agent[],
  'HOP+ with a model of its own view': () => {
    const model = observationsWorldModel({ view: 'own', network, history: 2, historyUnits: 2 });
    const worldModel = { model, batchSize: 4, stepsPerUpdate: 1 };
    return game.agents.map((id) => {
      return hopPlusAgent({
        game,
        id,
        network,
        ppo,
        moa: { ...moa, goals: 'none' },
        omg: false,
        worldModel,
        executor: 'eager',
      });
    });
  },
  DreamerV3: () => [
    dreamerAgent({ game, id: 'agent_0', ...tiny, coPlayers: 'moa', encoderNetwork: mlp({ hidden: [4] }) }),
    dreamerAgent({ game, id: 'agent_1', ...tiny, updatesPerPhase: undefined, trainRatio: 2, masks: false } as never),
  ],
  'DreamerV3 that shares weights': () => sharedDreamerAgents({ game, ...tiny }),
};

/** Kinds that are quick to train; the others run with the tests of learning. */
const QUICK = ['PPO of its own, and a rule with options', 'rules with memories'];

describe.each(Object.entries(KINDS))('%s', (name, make) => {
  const tags = QUICK.includes(name) ? [] : ['learning'];
  it('plays after loading as at the end of its run, to the bit', { tags }, async () => {
    const { directory, returns } = await trained(name.replaceAll(' ', '-'), game, make());
    const learning = await loadRun(directory, { learn: true });
    expect((await evaluate(learning.game, learning.agents, EPISODES)).returns).toEqual(returns);
    // Returns of a few episodes are coarse: the states tell more.
    const { saved } = await loadCheckpoint(directory);
    const { learners, memories } = saved as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    const states: Record<string, unknown> = {};
    for (const agent of learning.agents) {
      if (isLearning(agent)) states[agent.learner.name] = await agent.learner.state();
      if (agent.save) expect(agent.save()).toEqual(memories[agent.id]);
    }
    expect(states).toEqual(learners);
    learning.dispose();
    const frozen = await loadRun(directory);
    expect(frozen.agents.map(isLearning)).toEqual([false, false]);
    expect((await evaluate(game, frozen.agents, EPISODES)).returns).toEqual(returns);
    frozen.dispose();
    const unpacked = await unpackAgents(await packAgents(directory, { bits: 32 }), { game });
    expect(unpacked.agents.map(isLearning)).toEqual([false, false]);
    expect((await evaluate(game, unpacked.agents, EPISODES)).returns).toEqual(returns);
    unpacked.dispose();
  });
});

/** A deterministic rule of one's own, without options: it hunts nothing. */
const stays = (id: string): Agent<null> => ({
  id,
  name: 'Stays',
  initialState: () => null,
  act: ({ rows }, state) => ({ actions: new Int32Array(rows).fill(game.actionNames.indexOf('stay')), state }),
});

const messageOf = async (loading: Promise<unknown>): Promise<string> => {
  const error = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CoplayError);
  return (error as CoplayError).message;
};

describe('games', () => {
  it('of matrices, with wrappers and with boxes are made as config.json says', async () => {
    const logits = Float64Array.of(1, -2, 3, -4, 5);
    const memories = dilemma.agents.map((id) => memoryOneAgent({ game: dilemma, id, parameters: logits }));
    const matrix = await trained('matrix', dilemma, memories);
    const loaded = await loadRun(matrix.directory);
    expect(loaded.game.name).toBe('matrix-prisoners-dilemma');
    expect((await evaluate(dilemma, loaded.agents, EPISODES)).returns).toEqual(matrix.returns);

    const wrapped = timeLimit(limitedView(game, 1), 3);
    const seen = await trained('wrapped', wrapped, sharedPpoAgents({ game: wrapped, network, ppo }));
    const again = await loadRun(seen.directory);
    expect(again.game.options).toEqual(wrapped.options);
    expect((await evaluate(again.game, again.agents, EPISODES)).returns).toEqual(seen.returns);
    again.dispose();

    const swing = pendulum({ maxSteps: 5 });
    const agent = ppoAgent({ game: swing, id: swing.agents[0], network, continuous: { squash: true }, ppo });
    const directory = join(folder, 'pendulum');
    const run = selfPlay({ game: swing, agents: [agent], envs: 2, steps: 4, directory });
    await run.train({ envSteps: 8 });
    const { returns } = await run.evaluate(EPISODES);
    const boxes = await loadRun<typeof swing extends Game<never, infer Spaces> ? Spaces : never>(directory);
    expect((await evaluate(boxes.game, boxes.agents, EPISODES)).returns).toEqual(returns);
    boxes.dispose();
    run.dispose();
  });
});

describe('another seat', () => {
  const three = stagHunt({ size: 3, agents: 3, stags: 1, hares: 1, maxSteps: 4 });

  it('takes parameters, optimiser and models along, in the order of play', { tags: ['learning'] }, async () => {
    const own = { ...hop, moa: { ...moa, share: false, attempts: false } };
    const { directory } = await trained(
      'three',
      three,
      three.agents.map((id) => hopAgent({ game: three, id, ...own })),
    );
    const { saved } = await loadCheckpoint(directory);
    const old = (saved['learners'] as Record<string, Record<string, unknown>>)['agent_0'];
    const { agents, dispose } = await loadRun(directory, { seats: { agent_1: 'agent_0' }, learn: true });
    expect(agents.map(({ id }) => id)).toEqual(['agent_1']);
    const [moved] = agents;
    if (!isLearning(moved as Agent<Saved>)) throw new Error('It learns.');
    const { learner } = moved as ReturnType<typeof hopAgent>;
    const state = await learner.state();
    expect(state['params']).toEqual(old['params']);
    expect(state['slots']).toEqual(old['slots']);
    expect(learner.updates).toBe(2);
    // Next after agent_0 comes agent_1, and next after agent_1 comes agent_2.
    const modelsOf = (models: unknown, id: string) =>
      (models as Record<string, { networks: Record<string, unknown> }>)[id].networks;
    const before = modelsOf(old['coPlayerModels'], 'agent_0');
    const after = modelsOf(state['coPlayerModels'], 'agent_1');
    expect(after).toEqual({ agent_2: before['agent_1'], agent_0: before['agent_2'] });
    dispose();
  });

  it('can be frozen, or go on learning; agents that share weights still share them', async () => {
    const shared = await trained('shared', three, sharedPpoAgents({ game: three, network, ppo }));
    const [first, second] = await loadAgents(shared.directory, {
      seats: { agent_0: 'agent_0', agent_2: 'agent_2' },
      learn: true,
    });
    if (!isLearning(first) || !isLearning(second)) throw new Error('Both learn.');
    expect(first.learner).toBe(second.learner);
    expect(first.learner.ids).toEqual(['agent_0', 'agent_2']);
    const frozen = await loadAgents(shared.directory, { seats: { agent_1: 'agent_0' } });
    const run = selfPlay({ game: three, agents: [first, second, ...frozen], envs: 2, steps: 4 });
    await run.train({ envSteps: 8 });
    expect(run.learners).toEqual([first.learner]);
    expect(first.learner.updates).toBe(3);
    run.dispose();
  });
});

describe('what does not fit', () => {
  let directory: string;
  beforeAll(async () => {
    const mine = torsoBuilder({ kind: 'mine', hidden: 3 }, (shapes) => mlp({ hidden: [3] })(shapes));
    const agents = [ppoAgent({ game, id: 'agent_0', network: mine, ppo }), stays('agent_1')];
    ({ directory } = await trained('own', game, agents));
  });

  const mine = (hidden: number) =>
    torsoBuilder({ kind: 'mine', hidden }, (shapes) => mlp({ hidden: [hidden] })(shapes));
  const agents = { Stays: ({ ids }: { readonly ids: readonly string[] }) => ids.map(stays) };

  /** A copy of the run with one file of its checkpoint changed. */
  function damaged(name: string, file: string, change: (bytes: Buffer) => Buffer | string): string {
    const copy = join(folder, name);
    cpSync(directory, copy, { recursive: true });
    const [step] = readdirSync(join(copy, 'checkpoints'));
    const path = join(copy, 'checkpoints', step, file);
    writeFileSync(path, change(readFileSync(path)));
    return copy;
  }

  it('loads where parts and agents of its own are given by name', async () => {
    const run = await loadRun(directory, { agents, parts: { mine: mine(3) } });
    expect(run.agents.map(({ name }) => name)).toEqual(['PPO (frozen)', 'Stays']);
    expect(run.checkpoint.step).toBe(16);
    run.dispose();
  });

  it('is refused by name: parts, classes, networks', async () => {
    expect(await messageOf(loadRun(directory, { agents }))).toContain('a network of the name mine');
    expect(await messageOf(loadRun(directory, { parts: { mine: mine(3) } }))).toContain(
      'Stays of agent_1, which is one',
    );
    expect(await messageOf(loadRun(directory, { agents, parts: { mine: mine(4) } }))).toContain(
      'network.hidden 3, as in config.json, got 4',
    );
    const wrong = { ...agents, Stays: () => [stays('agent_0')] };
    const seated = messageOf(loadRun(directory, { agents: wrong, parts: { mine: mine(3) } }));
    expect(await seated).toContain('option agents.Stays: expected an agent for each of agent_1, got agent_0');
    const seats = { agent_7: 'agent_0' };
    expect(await messageOf(loadRun(directory, { agents, seats }))).toContain('got "agent_7"');
  });

  it('is refused by name: games and numbers of agents', async () => {
    const larger = stagHunt({ size: 4, agents: 2, stags: 1, hares: 1, maxSteps: 4 });
    expect(await messageOf(loadRun(directory, { game: larger }))).toContain('expected game.options.size 3, got 4');
    const more = stagHunt({ size: 3, agents: 3, stags: 1, hares: 1, maxSteps: 4 });
    expect(await messageOf(loadRun(directory, { game: more }))).toContain('game.options.agents 2, got 3');
    expect(await messageOf(loadRun(directory, { game: dilemma }))).toContain('game.name "stag-hunt", got "matrix-');
  });

  it('is refused by name: damaged checkpoints, newer ones, those of other runs, and none', async () => {
    const flipped = damaged('flipped', 'arrays.safetensors', (bytes) => {
      bytes[bytes.length - 1] ^= 1;
      return bytes;
    });
    expect(await messageOf(loadRun(flipped, { agents, warn: () => undefined }))).toContain(
      'with a damaged arrays.safetensors (its checksum differs)',
    );
    const newer = damaged('newer', 'manifest.json', (bytes) => {
      return bytes.toString().replace(/"formatVersion": \d+/, '"formatVersion": 99');
    });
    expect(await messageOf(loadRun(newer, { agents, warn: () => undefined }))).toContain('a newer form (version 99');
    expect(await messageOf(loadRun(directory, { agents, step: 8 }))).toContain('no manifest.json');
    expect(await messageOf(loadRun(join(folder, 'nowhere')))).toContain('the config.json of a run');
    const other = join(folder, 'other');
    cpSync(directory, other, { recursive: true });
    const config = JSON.parse(readFileSync(join(other, 'config.json'), 'utf8'));
    config.learners.agent_0.gamma = 0.5;
    writeFileSync(join(other, 'config.json'), JSON.stringify(config));
    expect(await messageOf(loadRun(other, { agents, parts: { mine: mine(3) } }))).toContain('learners.agent_0.gamma');
  });

  it('is refused by name: a game of its own, which is then given', async () => {
    const own: Game = { ...game, name: 'my-hunt' };
    const made = await trained('my-hunt', own, sharedPpoAgents({ game: own, network, ppo }));
    expect(await messageOf(loadRun(made.directory))).toContain('{ game: yourGame() }');
    const run = await loadRun(made.directory, { game: own });
    expect((await evaluate(own, run.agents, EPISODES)).returns).toEqual(made.returns);
    run.dispose();
  });
});
