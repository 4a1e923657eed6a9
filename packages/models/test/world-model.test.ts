import { allocate, createGenerator, type Generator, type NamedArrays, ndarray, type StepArrays } from '@coplay/core';
import { allocateGrid } from '@coplay/core/arrays';
import { matrixGame, stagHunt } from '@coplay/envs';
import { cellsWorldModel, planesWorldModel, type WorldModel } from '@coplay/models';
import { compile, tf, useBackend, variables } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { meanReward, twoHot } from '../src/world-model/two-hot';

const game = stagHunt({ size: 6, agents: 4, stags: 1, hares: 4, obstaclePieces: 3 });
const A = 4;
const HW = 36;

beforeAll(async () => {
  await useBackend('auto');
});

/** States in the middle of random play, with legal actions. */
function someStates(count: number, generator: Generator) {
  const states = allocate('int32', count * game.stateSize);
  const actions = new Int32Array(count * A);
  const mask = new Uint8Array(game.actions);
  const act = (row: number) => {
    for (let seat = 0; seat < A; seat++) {
      game.legal(states, row * game.stateSize, seat, mask, 0);
      const legal = [...mask.keys()].filter((k) => mask[k] === 1);
      // Hunts are what is hard to predict: they're chosen wherever they may be.
      const hunts = legal.filter((k) => k >= 5);
      const from = hunts.length > 0 && generator.uniform() < 0.8 ? hunts : legal;
      actions[row * A + seat] = from[generator.integer(from.length)];
    }
  };
  for (let row = 0; row < count; row++) {
    game.reset(states, row * game.stateSize, generator);
    act(row);
    for (let t = generator.integer(25); t > 0; t--) {
      game.step(states, row * game.stateSize, actions, row * A, generator, results(1), 0);
      act(row);
    }
  }
  return { states, actions };
}

function results(rows: number): StepArrays {
  const infos = Object.fromEntries(game.infos.map((name) => [name, new Float32Array(rows * A)]));
  const flags = () => new Uint8Array(rows * A);
  return { rewards: new Float32Array(rows * A), terminated: flags(), truncated: flags(), infos };
}

/** Transitions by the rules. */
function transitionsOf(model: WorldModel, { states, actions }: ReturnType<typeof someStates>) {
  const rows = model.encode(states, actions);
  const count = states.length / game.stateSize;
  const after = states.slice();
  const result = results(count);
  for (let row = 0; row < count; row++) {
    game.step(after, row * game.stateSize, actions, row * A, createGenerator(0), result, row);
  }
  const next = model.encode(after, actions);
  const rewards = ndarray(result.rewards, [count, A]);
  const all: NamedArrays = { ...rows, rewards, 'next/cells': next['cells'], 'next/things': next['things'] };
  return { after, result, rows: all };
}

async function imagine(model: WorldModel, params: NamedArrays, rows: NamedArrays): Promise<NamedArrays> {
  const before = Object.fromEntries(Object.entries(rows).filter(([name]) => !/^next|^rewards/.test(name)));
  const run = compile((state, inputs) => ({ outputs: model.imagine(state.params, inputs) }), {
    name: 'imagine',
    state: { params: variables(params) },
  });
  return (await run(before)) as NamedArrays;
}

describe('cellsWorldModel', () => {
  const model = cellsWorldModel({ filters: [8], hidden: 16 })(game);
  const generator = createGenerator(5);
  const some = someStates(200, generator);
  const { rows, after, result } = transitionsOf(model, some);
  const params = model.init(createGenerator(1));

  it('leaves no probability for cells that cannot be reached, for any parameters', async () => {
    const wild = Object.fromEntries(
      Object.entries(params).map(([name, { data, shape }]) => [
        name,
        { data: Float32Array.from(data, () => 3 * generator.normal()), shape },
      ]),
    );
    const { moves } = await imagine(model, wild, rows);
    const planes = model.planes!({ moves, things: ndarray(new Float32Array(200 * 2 * HW)) }, rows).data;
    const cells = rows['cells'].data;
    const fixed = rows['fixed'].data;
    let [blocked, impossible, worst] = [0, 0, 0];
    for (let i = 0; i < cells.length; i++) {
      const row = Math.floor(i / A);
      let sum = 0;
      for (let cell = 0; cell < HW; cell++) {
        const p = planes[(row * HW + cell) * (A + 3) + (i % A)];
        sum += p;
        const steps = Math.abs(Math.floor(cell / 6) - Math.floor(cells[i] / 6)) + Math.abs((cell % 6) - (cells[i] % 6));
        const isOpen = fixed[row * HW + cell] === 0;
        if (!isOpen && steps === 1) blocked++;
        if (cells[i] === HW || steps > 1 || !isOpen) impossible = Math.max(impossible, p);
      }
      const leaves = moves.data[i * 6 + 5];
      worst = Math.max(worst, Math.abs(sum + leaves - 1), cells[i] === HW ? 1 - leaves : 0);
    }
    expect(impossible).toBe(0);
    expect(worst).toBeLessThan(1e-5); // nobody fades or doubles, and who has left stays away
    expect(blocked).toBeGreaterThan(50); // there were obstacles to walk into
  });

  it('treats all seats equally: agents in another order give the same results in that order', async () => {
    const order = [2, 0, 3, 1];
    const reorder = (name: string) => {
      const { data, shape } = rows[name];
      return ndarray(
        Int32Array.from(data, (_, i) => data[i - (i % A) + order[i % A]]),
        shape,
      );
    };
    const shuffled = { ...rows, cells: reorder('cells'), actions: reorder('actions') };
    const [first, second] = [await imagine(model, params, rows), await imagine(model, params, shuffled)];
    let worst = 0;
    for (let i = 0; i < 200 * A; i++) {
      const j = i - (i % A) + order[i % A];
      for (let m = 0; m < 6; m++) {
        worst = Math.max(worst, Math.abs(second['moves'].data[i * 6 + m] - first['moves'].data[j * 6 + m]));
      }
    }
    expect(worst).toBeLessThan(1e-5);
  });

  it('has the cross-entropy of what came as its loss', async () => {
    const imagined = await imagine(model, params, rows);
    const planes = model.planes!(imagined, rows).data;
    let [surprise, players, things] = [0, 0, 0];
    rows['cells'].data.forEach((cell: number, i: number) => {
      if (cell === HW) return;
      players++;
      const next = rows['next/cells'].data[i];
      const p = next === HW ? imagined['moves'].data[i * 6 + 5] : planes[(Math.floor(i / A) * HW + next) * 7 + (i % A)];
      surprise -= Math.log(p);
    });
    rows['next/things'].data.forEach((present: number, i: number) => {
      const p = imagined['things'].data[i];
      things -= Math.log(present === 1 ? p : 1 - p);
    });
    const run = compile(
      (state, inputs) => {
        const { loss, metrics } = model.loss(state.params, inputs);
        return { outputs: { loss, ...metrics } };
      },
      { name: 'loss', state: { params: variables(params) } },
    );
    const out = (await run(rows)) as NamedArrays;
    expect(out['cells_loss'].data[0]).toBeCloseTo(surprise / players, 4);
    expect(out['things_loss'].data[0]).toBeCloseTo(things / 200, 3);
    expect(out['loss'].data[0]).toBeCloseTo(surprise / players + things / 200, 3);
  });

  it('told the truth, decodes and writes exactly what the rules do, rewards and ends included', () => {
    const columns = [0, -6, 6, -1, 1];
    const moves = new Float32Array(200 * A * 6);
    rows['cells'].data.forEach((cell: number, i: number) => {
      const next = rows['next/cells'].data[i];
      moves[i * 6 + (next === HW ? 5 : columns.indexOf(next - cell))] = 1;
    });
    const things = ndarray(Float32Array.from(rows['next/things'].data), [200, 2, HW]);
    const imagined = { moves: ndarray(moves, [200, A, 6]), things };
    for (const draws of [undefined, createGenerator(1)]) {
      const happened = model.decode(imagined, rows, draws);
      expect(happened['rewards'].data).toEqual(result.rewards);
      expect(happened['terminated'].data).toEqual(result.terminated);
      const written = some.states.slice();
      for (let row = 0; row < 200; row++) model.write(happened, row, written, row * game.stateSize);
      expect(written).toEqual(after);
    }
    expect(result.rewards.filter((reward) => reward > 0).length).toBeGreaterThan(10);
  });

  it('draws what happens by its probabilities', () => {
    const layout = allocateGrid(game.grid!, A, 1); // everybody has left but agent 0, who stands in the middle
    layout.cells[0] = 14;
    const count = 3000;
    const repeat = <T extends Int32Array | Uint8Array>(data: T) => {
      const all = new (data.constructor as new (n: number) => T)(count * data.length);
      for (let i = 0; i < count; i++) all.set(data, i * data.length);
      return all;
    };
    const many = {
      cells: ndarray(repeat(layout.cells), [count, A]),
      things: ndarray(repeat(layout.things), [count, 2, HW]),
      fixed: ndarray(repeat(layout.fixed), [count, 1, HW]),
      elapsed: ndarray(repeat(layout.elapsed)),
      actions: ndarray(new Int32Array(count * A).fill(-1), [count, A]),
    };
    const moves = Float32Array.from({ length: count * A * 6 }, (_, i) => [0.5, 0, 0, 0.2, 0, 0.3][i % 6]);
    const things = new Float32Array(count * 2 * HW).fill(0.25);
    const imagined = { moves: ndarray(moves, [count, A, 6]), things: ndarray(things, [count, 2, HW]) };
    const happened = model.decode(imagined, many, createGenerator(3));
    const shareOf = (cell: number) =>
      [...happened['next/cells'].data].filter((c, i) => i % A === 0 && c === cell).length / count;
    expect(shareOf(14)).toBeCloseTo(0.5, 1);
    expect(shareOf(13)).toBeCloseTo(0.2, 1);
    expect(shareOf(36)).toBeCloseTo(0.3, 1);
    expect(shareOf(8) + shareOf(20) + shareOf(15)).toBe(0);
    const present = (happened['next/things'].data as Uint8Array).filter((x) => x === 1).length;
    expect(present / things.length).toBeCloseTo(0.25, 2);
  });

  it('learns rewards as distributions where it is told to', async () => {
    const learned = cellsWorldModel({ filters: [4], hidden: 8, rewards: 'two-hot' })(game);
    const own = learned.init(createGenerator(1));
    const imagined = await imagine(learned, own, rows);
    const happened = learned.decode(imagined, rows);
    rows['cells'].data.forEach((cell: number, i: number) => {
      expect(happened['rewards'].data[i]).toBe(cell === HW ? 0 : imagined['rewards'].data[i]);
    });
    const run = compile((state, inputs) => ({ outputs: learned.loss(state.params, inputs).metrics }), {
      name: 'two-hot-loss',
      state: { params: variables({ ...own, 'rewards/1/kernel': ndarray(new Float32Array(8 * 81), [8, 81]) }) },
    });
    const { reward_loss } = (await run(rows)) as NamedArrays;
    expect(reward_loss.data[0]).toBeCloseTo(Math.log(81), 4); // equal logits: every bin has 1/81
  });

  it('refuses games without a grid, and agents that jump', () => {
    expect(() => cellsWorldModel()(matrixGame())).toThrow(/grid parts.*WorldModel/);
    const jump = { ...rows, 'next/cells': ndarray(Int32Array.from(rows['next/cells'].data), [200, A]) };
    const walker = rows['cells'].data.findIndex((cell: number) => cell === 0);
    jump['next/cells'].data[walker] = 2;
    expect(() => model.check!(jump)).toThrow(/row 0, column 0 to row 0, column 2/);
    expect(() => model.check!(rows)).not.toThrow();
    expect(() => cellsWorldModel({ filter: [8] } as object)).toThrow(/unknown option "filter"/);
  });
});

describe('planesWorldModel', () => {
  const small = stagHunt({ size: 4, agents: 2, stags: 1, hares: 1 });
  const model = planesWorldModel({ filters: [4], channelWeights: [2, 2, 1, 1, 1] })(small);

  it('begins with what it sees: nothing changes', async () => {
    const states = allocate('int32', small.stateSize);
    small.reset(states, 0, createGenerator(2));
    const rows = model.encode(states, Int32Array.of(0, 4));
    const imagined = await imagine(model, model.init(createGenerator(1)), rows);
    const seen = new Uint8Array(16 * 5);
    small.observe(states, 0, 0, { planes: seen, time: new Float32Array(1) }, 0);
    expect([...model.planes!(imagined, rows).data]).toEqual([...seen]); // the planes are those of seat 0
  });

  it('projects any planes to a state: greatest value, or left; things above a half', () => {
    const states = allocate('int32', small.stateSize);
    small.reset(states, 0, createGenerator(2));
    const rows = model.encode(states, Int32Array.of(4, 4));
    const planes = new Float32Array(16 * 5);
    planes[5 * 5] = 0.3; // agent 0, split over cells 5 and 9
    planes[9 * 5] = 0.4;
    planes[2 * 5 + 3] = 0.6; // a stag on cell 2, and a faint one on cell 3
    planes[3 * 5 + 3] = 0.4;
    const imagined = {
      planes: ndarray(planes, [1, 16, 5]),
      rewards: ndarray(Float32Array.of(0.042, 1.5), [1, 2]),
      terminated: ndarray(Float32Array.of(0.2, 0.9), [1, 2]),
    };
    const happened = model.decode(imagined, rows);
    expect([...happened['next/cells'].data]).toEqual([9, 16]);
    const stags = [...happened['next/things'].data].flatMap((x, i) => (x === 1 ? [i] : []));
    expect(stags).toEqual([2]);
    expect(happened['rewards'].data[0]).toBeCloseTo(0.042, 6);
    expect([...happened['terminated'].data]).toEqual([0, 1]);
  });

  it('weighs the errors of its planes', async () => {
    const states = allocate('int32', small.stateSize);
    small.readLayout!('1...\n.2..\nS...\n...h', states, 0);
    const before = model.encode(states, Int32Array.of(4, 4));
    // At first it says that nothing changes. Agent 0 goes right: two of 80 pixels are wrong by 1, with weight 2; the
    // hare goes: one, 1.
    const things = ndarray(Uint8Array.from(before['things'].data), [1, 2, 16]);
    things.data[16 + 15] = 0;
    const rows = {
      ...before,
      rewards: ndarray(Float32Array.of(3, 0), [1, 2]),
      'next/cells': ndarray(Int32Array.of(1, 5), [1, 2]),
      'next/things': things,
    };
    const run = compile((state, inputs) => ({ outputs: model.loss(state.params, inputs).metrics }), {
      name: 'planes-loss',
      state: { params: variables(model.init(createGenerator(1))) },
    });
    const out = await run(rows);
    expect(out['planes_loss'].data[0]).toBeCloseTo((2 + 2 + 1) / 80, 6);
    expect(out['reward_loss'].data[0]).toBeCloseTo(9 / 2, 5);
    expect(out['termination_loss'].data[0]).toBeCloseTo(Math.log(2), 5);
  });

  it('refuses another number of weights than there are planes', () => {
    expect(() => planesWorldModel({ channelWeights: [1, 1] })(small)).toThrow(/5 weights/);
  });
});

describe('twoHot', () => {
  it('splits a reward over its two neighbours so that the mean is the reward', () => {
    tf.tidy(() => {
      const rewards = [0, 1, 10 / 3, -0.7, 5, 10, 53];
      const weights = twoHot(tf.tensor1d(rewards)).arraySync() as number[][];
      for (const line of weights) {
        const used = line.flatMap((w, i) => (w > 1e-6 ? [i] : []));
        expect(used.length).toBeLessThanOrEqual(2);
        if (used.length === 2) expect(used[1] - used[0]).toBe(1);
        expect(line.reduce((sum, w) => sum + w, 0)).toBeCloseTo(1, 5);
      }
      const means = meanReward(twoHot(tf.tensor1d(rewards))).arraySync() as number[];
      means.forEach((mean, i) => {
        expect(mean).toBeCloseTo(rewards[i], 4);
      });
      expect((meanReward(twoHot(tf.tensor1d([1000]))).arraySync() as number[])[0]).toBeCloseTo(Math.E ** 4 - 1, 2);
    });
  });
});
