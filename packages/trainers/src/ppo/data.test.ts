import { createPpoBuffer } from '@coplay/buffers';
import { createGenerator, type Experience, ndarray } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { sliceRows } from '@coplay/core/rows';
import { matrixGame } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { createTable, encodeSeat, fillPolicyTarget, fillSeat, fillStates, learnedRows, planEpoch } from './data';
import { ppoSetup } from './setup';

function filled(real: number, imagined: number) {
  const buffer = createPpoBuffer({ agents: ['agent_0'] });
  const count = real + imagined;
  buffer.push('agent_0', {
    place: ndarray(Int32Array.from({ length: count }, (_, i) => i)),
    isImagined: ndarray(Uint8Array.from({ length: count }, (_, i) => (i < real ? 0 : 1))),
  });
  return buffer;
}

describe('planEpoch', () => {
  const settings = { minibatchSize: 256, normaliseAdvantages: 'minibatch', stepsPerRow: 1 } as const;

  // Where real rows are rare, minibatches are larger than asked for, so that each has one.
  it.each([
    [413, 600],
    [256, 1],
    [1, 900],
    [767, 3000],
  ])('has each row that takes part once, at every ratio of kinds (%i real, %i imagined)', (real, imagined) => {
    for (const realRatio of [0, 0.5, 1]) {
      const plan = planEpoch(filled(real, imagined), { ...settings, realRatio }, createGenerator(1));
      const rooms = new Set(plan.map(({ places }) => places.length));
      expect(rooms.size).toBe(1); // one shape, one graph
      const rows = plan.reduce((sum, { count }) => sum + count, 0);
      const expected = realRatio === 0 ? imagined : realRatio === 1 ? real : real + imagined;
      expect(rows).toBe(expected);
    }
  });
});

describe('the table of an update', () => {
  const game = matrixGame({
    payoffs: [
      [1, 0],
      [0, 1],
    ],
  });
  const setup = (recurrent: number) =>
    ppoSetup('test', game, ['agent_1'], { recurrent, inputs: { fields: [], previousActions: true } }, {});

  /** One environment, 4 steps, 2 agents; agent_1 leaves after the second step. Arrays count their entries. */
  function experience(size: number): Experience {
    const counted = (length: number) => Float32Array.from({ length }, (_, i) => i);
    return {
      ...allocateExperience(game, 1, 4),
      active: Uint8Array.of(1, 1, 1, 1, 1, 0, 1, 0),
      actions: Int32Array.of(0, 1, 0, 0, 1, 0, 1, 0),
      previousActions: Int32Array.of(-1, -1, 0, 1, 0, 0, 1, -1),
      masks: new Uint8Array(16).fill(1),
      isFirst: Uint8Array.of(1, 0, 0, 0),
      extras: {
        logProbs: ndarray(counted(8), [1, 4, 2]),
        actorStates: ndarray(counted(8 * size), [1, 4, 2, size]),
      },
    };
  }
  const targets = {
    advantages: Float32Array.from({ length: 8 }, (_, i) => 10 + i),
    returns: Float32Array.from({ length: 8 }, (_, i) => 20 + i),
  };
  const values = Float32Array.from({ length: 8 }, (_, i) => 30 + i);

  it('has a row for each step of a seat, and those in which it played are learned from', () => {
    const own = setup(0);
    const table = createTable(own, [experience(0), experience(0)]);
    encodeSeat(own, table, experience(0), 1);
    const rows = encodeSeat(own, table, experience(0), 1);
    fillSeat(own, rows, values, targets);
    const second = sliceRows(table.columns, 4, 8);
    const column = (name: string) => [...second[name].data];
    // Its own previous action first: none, 1, 0, none; then that of the other: none, 0, 0, 1.
    expect(column('actor/vector')).toEqual([0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1]);
    expect(column('actions')).toEqual([1, 0, 0, 0]);
    expect(column('logProbs')).toEqual([1, 3, 0, 0]);
    expect(column('values')).toEqual([31, 33, 0, 0]);
    expect(column('advantages')).toEqual([11, 13, 0, 0]);
    expect(column('returns')).toEqual([21, 23, 0, 0]);
    const learned = learnedRows(own, rows);
    expect([...learned['place'].data]).toEqual([4, 5]);
    expect([...learned['isImagined'].data]).toEqual([0, 0]);
    expect(learned['weights']).toBeUndefined();
  });

  it("has a seat's policy targets in the steps that it played, and zeros elsewhere", () => {
    const own = { ...setup(0), policyTarget: { extra: 'wanted', weight: 1 } };
    // Three steps, for which the table has four rows; agent_1 leaves after the second.
    const short = { ...allocateExperience(game, 1, 3), active: Uint8Array.of(1, 1, 1, 1, 1, 0) };
    const wanted = ndarray(
      Float32Array.from({ length: 12 }, (_, i) => i),
      [1, 3, 2, 2],
    );
    const table = createTable(own, [short, short]);
    const first = encodeSeat(own, table, short, 1);
    encodeSeat(own, table, short, 1); // imagined, without any
    fillPolicyTarget(first, wanted, 2);
    const { data, shape } = table.columns['policyTarget'];
    expect(shape).toEqual([8, 2]);
    expect([...data]).toEqual([2, 3, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(createTable(setup(0), [short]).columns['policyTarget']).toBeUndefined();
  });

  it('has a row for each sequence of a recurrent network, with the states that entered it', () => {
    const own = setup(1);
    const table = createTable(own, [experience(1)], 2);
    const rows = encodeSeat(own, table, experience(1), 1);
    fillSeat(own, rows, values, targets);
    fillStates(rows, ndarray(Float32Array.of(5, 6, 7, 8), [4, 1]));
    const { columns } = table;
    expect(columns['actor/vector'].shape).toEqual([2, 2, 4]);
    // Nothing of the steps after it has left, though others were seen to act there.
    expect([...columns['actor/vector'].data]).toEqual([0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect([...columns['isFirst'].data]).toEqual([1, 0, 0, 0]);
    expect([...columns['criticState'].data]).toEqual([5, 7]);
    expect([...columns['actorState'].data]).toEqual([1, 0]);
    const learned = learnedRows(own, rows);
    expect([...learned['place'].data]).toEqual([0]);
    expect(learned['weights']).toEqual(ndarray(Float32Array.of(1, 1), [1, 2]));
  });
});
