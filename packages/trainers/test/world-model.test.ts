import { gridTransitions } from '@coplay/buffers';
import {
  allocate,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  type NamedArrays,
  rulesSimulator,
  type StepArrays,
  vectorEnv,
} from '@coplay/core';
import { concatRows, gatherRows } from '@coplay/core/rows';
import { matrixGame, nearestDrift, nearestHare, nearestStag, randomAgent, snowdrift, stagHunt } from '@coplay/envs';
import { cellsWorldModel, planesWorldModel } from '@coplay/models';
import { createWorldModel, type WorldModelLearner } from '@coplay/trainers';
import { describe, expect, it } from 'vitest';
import { matrixWorldModel } from './matrix-world-model';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 10 });
const small = cellsWorldModel({ filters: [8], hidden: 16 });

function played(of: Game, seed: number, envs = 16, steps = 20): Promise<Experience> {
  const agents = of.agents.map((id) => randomAgent({ game: of, id }));
  return createRollout(vectorEnv(of, { envs, seed }), agents, createGenerator(seed)).collect(steps);
}

/** Players who catch what there is. */
function hunted(seed: number): Promise<Experience> {
  const [first, second] = game.agents;
  const agents = [nearestStag({ game, id: first }), nearestHare({ game, id: second })];
  return createRollout(vectorEnv(game, { envs: 8, seed }), agents, createGenerator(seed)).collect(20);
}

/** Players who catch the stag. */
function together(seed: number): Promise<Experience> {
  const agents = game.agents.map((id) => nearestStag({ game, id }));
  return createRollout(vectorEnv(game, { envs: 16, seed }), agents, createGenerator(seed)).collect(20);
}

async function learner(options: Partial<Parameters<typeof createWorldModel>[0]> = {}): Promise<WorldModelLearner> {
  const made = createWorldModel({
    game,
    model: small,
    batchSize: 64,
    stepsPerUpdate: 16,
    learningRate: 1e-2,
    ...options,
  });
  await made.initialise(createGenerator(7));
  return made;
}

function results(of: Game, rows: number): StepArrays {
  const size = rows * of.agents.length;
  return {
    rewards: new Float32Array(size),
    terminated: new Uint8Array(size),
    truncated: new Uint8Array(size),
    infos: Object.fromEntries(of.infos.map((name) => [name, new Float32Array(size)])),
  };
}

/** Transitions whose next cells and things are as predicted. */
function exactRows(happened: NamedArrays, rows: NamedArrays): number {
  const names = ['next/cells', 'next/things'];
  const states = (arrays: NamedArrays, row: number) =>
    names.map((name) => {
      const size = arrays[name].data.length / arrays[name].shape[0];
      return String(arrays[name].data.slice(row * size, (row + 1) * size));
    });
  let exact = 0;
  for (let row = 0; row < rows['rewards'].shape[0]; row++) {
    if (String(states(happened, row)) === String(states(rows, row))) exact++;
  }
  return exact;
}

/**
 * Plays steps of the simulator and steps of the rules, from states of random play. Where the next states are equal,
 * rewards and ends have to be.
 *
 * @returns the share of equal states
 */
async function stepsAlike(of: Game, model: WorldModelLearner): Promise<number> {
  const [rules, imagined] = [rulesSimulator(of), model.simulator({ sample: false })];
  const generator = createGenerator(99);
  const rows = 60;
  const states = allocate('int32', rows * of.stateSize);
  const actions = new Int32Array(rows * 2);
  let equal = 0;
  let ended = 0;
  for (let step = 0; step < of.maxSteps; step++) {
    for (let row = 0; row < rows; row++) {
      const isNew = step === 0 || ![0, 1].some((agent) => of.isActive(states, row * of.stateSize, agent));
      if (isNew) of.reset(states, row * of.stateSize, generator);
    }
    const mask = new Uint8Array(of.actions);
    for (let i = 0; i < actions.length; i++) {
      of.legal(states, Math.floor(i / 2) * of.stateSize, i % 2, mask, 0);
      const legal = [...mask.keys()].filter((k) => mask[k] === 1);
      actions[i] = legal[generator.integer(legal.length)];
    }
    const copy = states.slice();
    const [truth, guess] = [results(of, rows), results(of, rows)];
    await imagined.step(copy, actions, generator, guess);
    await rules.step(states, actions, generator, truth);
    for (let row = 0; row < rows; row++) {
      const at = row * of.stateSize;
      expect(of.elapsed(copy, at)).toBe(of.elapsed(states, at));
      if (String(copy.subarray(at, at + of.stateSize)) !== String(states.subarray(at, at + of.stateSize))) continue;
      equal++;
      for (const name of ['rewards', 'terminated', 'truncated'] as const) {
        const values = (from: StepArrays) => [...from[name].subarray(2 * row, 2 * row + 2)];
        expect(values(guess)).toEqual(values(truth));
        if (name === 'terminated') ended += truth.terminated[2 * row];
      }
    }
  }
  expect(ended).toBeGreaterThan(0);
  return equal / (rows * of.maxSteps);
}

/** Transitions of two agents whose rewards are of a kind. */
function rowsWhere(rows: NamedArrays, is: (rewards: readonly number[]) => boolean): NamedArrays {
  const { data, shape } = rows['rewards'];
  const places = Array.from({ length: shape[0] }, (_, row) => row);
  return gatherRows(
    rows,
    places.filter((row) => is([...data.slice(row * shape[1], (row + 1) * shape[1])])),
  );
}

describe('a world model', () => {
  it('learns the rules well enough to stand in for them', { tags: ['slow'] }, async () => {
    const model = await learner();
    expect([model.accuracy, model.rewardError]).toEqual([0, Number.POSITIVE_INFINITY]);
    const accuracies: number[] = [];
    for (let update = 1; update <= 14; update++) {
      const [first, second] = [await played(game, update), await hunted(update)];
      model.push(first);
      model.push(second);
      const unseen = concatRows([first, second].map((experience) => model.transitions(experience)));
      const before = exactRows((await model.predict(unseen)).happened, unseen);
      const metrics = await model.update(createGenerator(update));
      // Told before it was learned from; all 480 are within what is scored.
      expect(metrics['world_model/new_accuracy']).toBeCloseTo(before / 480, 6);
      accuracies.push(metrics['world_model/new_accuracy']);
      expect(metrics['world_model/accuracy']).toBe(model.accuracy);
    }
    expect(accuracies[0]).toBeLessThan(0.3); // nothing was learned before it was measured
    expect(accuracies.at(-1)).toBeGreaterThan(0.9);
    expect(model.rewardError).toBeLessThan(0.1);

    expect(await stepsAlike(game, model)).toBeGreaterThan(0.9);
    model.dispose();
  });

  it('learns another game through the same interface: rewards that all share, and an end that comes for all at once', async () => {
    const drifts = snowdrift({ size: 3, agents: 2, drifts: 2, maxSteps: 12 });
    const model = await learner({ game: drifts });
    const accuracies: number[] = [];
    for (let update = 1; update <= 10; update++) {
      const [first, second] = drifts.agents;
      const agents = [nearestDrift({ game: drifts, id: first }), randomAgent({ game: drifts, id: second })];
      const rollout = createRollout(vectorEnv(drifts, { envs: 8, seed: update }), agents, createGenerator(update));
      model.push(await played(drifts, update));
      model.push(await rollout.collect(20));
      accuracies.push((await model.update(createGenerator(update)))['world_model/new_accuracy']);
    }
    expect(accuracies[0]).toBeLessThan(0.3);
    expect(accuracies.at(-1)).toBeGreaterThan(0.9);
    expect(model.rewardError).toBeLessThan(1); // of rewards up to 12
    expect(await stepsAlike(drifts, model)).toBeGreaterThan(0.9);
    model.dispose();
  });

  // Field note of our own: HOP+ imagined that nobody ever catches a stag, at an accuracy of 0.999.
  it('learns what is hardly ever seen from minibatches drawn by outcome, and says where it has not', async () => {
    const seen = await played(game, 7, 32, 64);
    const caught = gridTransitions(game, await together(5));
    const catches = rowsWhere(caught, (rewards) => Math.max(...rewards) > 1);
    // Of 2,048 transitions.
    expect(rowsWhere(gridTransitions(game, seen), (rewards) => Math.max(...rewards) > 1)['rewards'].shape[0]).toBe(2);
    const known: number[] = [];
    const measured: number[] = [];
    for (const outcomeShare of [0, 0.25]) {
      const model = await learner({ outcomeShare, stepsPerUpdate: 32 });
      model.push(seen);
      const generator = createGenerator(11);
      let metrics = {} as Record<string, number>;
      for (let update = 0; update < 6; update++) metrics = await model.update(generator.split(update));
      const { happened } = await model.predict(catches);
      known.push(exactRows(happened, catches) / catches['rewards'].shape[0]);
      measured.push(metrics['world_model/accuracy_by_outcome']);
      model.dispose();
    }
    expect(known[0]).toBeLessThan(0.3);
    expect(known[1]).toBeGreaterThan(0.8);
    expect(measured[0]).toBeLessThan(0.8); // 0.59: it's wrong about one of the two outcomes
    expect(measured[1]).toBeGreaterThan(0.95);
  });

  it('goes on from a checkpoint to the bit, with rows, shares and what is still to be measured', async () => {
    const [first, second] = [await learner({ members: 2 }), await learner({ members: 2, capacity: 50_000 })];
    first.push(await played(game, 1));
    await first.update(createGenerator(1));
    first.push(await played(game, 2, 4));
    await second.restore(structuredClone(await first.state()));
    expect([second.accuracy, second.updates, second.store.size]).toEqual([first.accuracy, 1, first.store.size]);
    const more = await played(game, 3, 4);
    const metrics = [];
    for (const model of [first, second]) {
      model.push(more);
      metrics.push(await model.update(createGenerator(2)));
    }
    expect(metrics[1]).toEqual(metrics[0]);
    expect(await second.parameters()).toEqual(await first.parameters());
    expect(await second.state()).toEqual(await first.state());
    await expect(createWorldModel({ game, model: small }).restore(await first.state())).rejects.toThrow(/1 members/);
    for (const model of [first, second]) model.dispose();
  });

  it('as an ensemble has members that differ, and says where they do', async () => {
    const model = await learner({ members: 3 });
    model.push(await played(game, 1));
    const sets = () => [0, 1, 2].map((member) => String(model.store.placesOf(member)));
    const before = sets();
    expect(new Set(before).size).toBe(3);
    const metrics = await model.update(createGenerator(1));
    await model.update(createGenerator(2)); // no new data
    expect(sets()).toEqual(before);
    const [a, b] = await model.parameters();
    expect(a['moves/1/kernel'].data).not.toEqual(b['moves/1/kernel'].data);
    expect(metrics['world_model/disagreement']).toBeGreaterThan(0);
    const rows = model.transitions(await played(game, 5, 2, 5));
    const { imagined, disagreement } = await model.predict(rows);
    expect(disagreement).toHaveLength(10);
    for (let i = 0; i < 20; i++) {
      const sum = (imagined['moves'].data as Float32Array).slice(i * 6, i * 6 + 6).reduce((total, p) => total + p, 0);
      expect(sum).toBeCloseTo(1, 4); // a mean of distributions
    }
    model.dispose();
  });

  it('learns from real data only, and does nothing without any', async () => {
    const model = await learner();
    expect(await model.update(createGenerator(1))).toEqual({});
    const experience = await played(game, 1, 2, 5);
    const imagined = { ...experience, isImagined: Uint8Array.of(0, 1) };
    expect(() => model.push(imagined)).toThrow(/imagined experience/);
    expect(model.store.pushed).toBe(0);
    expect(() => createWorldModel({ game, learningrate: 1 } as never)).toThrow(/unknown option "learningrate"/);
    expect(() => createWorldModel({ game, seat: 2 })).toThrow(/seat from 0 to 1/);
    expect(() => createWorldModel({ game: matrixGame(), model: cellsWorldModel() })).toThrow(/grid parts/);
    await expect(createWorldModel({ game }).predict({})).rejects.toThrow(/initialise/);
    model.dispose();
  });

  it('stops where a number is not finite, and keeps what it knew', async () => {
    const model = await learner();
    const before = await model.parameters();
    const experience = await played(game, 1, 2, 5);
    const two = await learner({ model: planesWorldModel({ filters: [4] }) });
    const rows = two.transitions(experience);
    rows['rewards'].data[3] = Number.NaN;
    await expect(two.pretrain(rows, { steps: 2, generator: createGenerator(1) })).rejects.toThrow(/finite/);
    expect(await model.parameters()).toEqual(before);
    const [params] = await two.parameters();
    expect(params['head/kernel'].data.every((x: number) => x === 0)).toBe(true);
    for (const each of [model, two]) each.dispose();
  });
});

describe("a world model of a user's own", () => {
  it('plugs into the learner and into a simulator', async () => {
    const payoffs = [
      [4, 0],
      [2, 2],
    ];
    const matrix = matrixGame({ payoffs, maxSteps: 6 });
    const model = await learner({ game: matrix, model: matrixWorldModel, stepsPerUpdate: 100, learningRate: 5e-2 });
    const experience = await played(matrix, 1);
    model.push(experience);
    const first = await model.update(createGenerator(1));
    expect(first['world_model/joint_loss']).toBeGreaterThan(0);
    model.push(await played(matrix, 2));
    await model.update(createGenerator(2));
    model.push(await played(matrix, 3));
    const last = await model.update(createGenerator(3));
    expect(last['world_model/new_accuracy']).toBe(1);

    const states = allocate('int32', 4 * matrix.stateSize);
    const result = results(matrix, 4);
    const truth = results(matrix, 4);
    const copy = states.slice();
    const actions = Int32Array.of(0, 0, 0, 1, 1, 0, 1, 1);
    await model.simulator().step(states, actions, createGenerator(1), result);
    await rulesSimulator(matrix).step(copy, actions, createGenerator(1), truth);
    expect(states).toEqual(copy);
    result.rewards.forEach((reward, i) => {
      expect(Math.abs(reward - truth.rewards[i])).toBeLessThan(0.3);
    });
    expect([...result.truncated]).toEqual([...truth.truncated]);
    model.dispose();
  });
});
