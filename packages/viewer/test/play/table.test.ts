import { nearestHare, nearestStag, stagHunt, titForTat } from '@coplay/envs';
import { createTable } from '@coplay/viewer';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../src/play/table';

const [UP, LEFT, RIGHT, STAY, HUNT_STAG, HUNT_HARE] = [0, 2, 3, 4, 5, 6];
/** Of somebody who has left: is never read. */
const NO_ACTION = 99;
const game = stagHunt({ size: 3, agents: 2, stags: 0, hares: 2, maxSteps: 10 });
const layout = '1h.\n...\n.h2';

/** Agent 0's table; what it was told, and the answers that it gives in turn. */
function tableOf(answers: readonly number[]) {
  const turns: Turn[] = [];
  const decide = (turn: Turn) => {
    turns.push(turn);
    return answers[turns.length - 1];
  };
  const others = [nearestHare({ game, id: 'agent_1' })];
  return { table: createTable({ game, person: 'agent_0', others, decide }), turns };
}

describe('createTable', () => {
  it('asks for each action, tells what came of the last one, and records the game', async () => {
    const { table, turns } = tableOf([RIGHT, HUNT_HARE]);
    const { players, steps, frames } = await table.play({ layout });
    expect(turns.map(({ mask }) => [...mask])).toEqual([
      [0, 1, 0, 1, 1, 0, 0], // in a corner: down, right, stay
      [0, 1, 1, 1, 1, 0, 1], // on the hare
    ]);
    expect(turns.map(({ step, isActive, before, returns }) => ({ step, isActive, before, returns }))).toEqual([
      { step: 0, isActive: true, before: undefined, returns: [0, 0] },
      {
        step: 1,
        isActive: true,
        before: { actions: [RIGHT, LEFT], rewards: [0, 0], left: [false, false] },
        returns: [0, 0],
      },
    ]);
    expect(turns.map(({ state }) => [...state])).toEqual(frames.slice(0, 2).map(({ state }) => [...state]));
    expect(players).toEqual(['Person', 'NearestHare']);
    expect(steps.map(({ actions, rewards }) => [actions, rewards])).toEqual([
      [
        [RIGHT, LEFT],
        [0, 0],
      ],
      [
        [HUNT_HARE, HUNT_HARE],
        [1, 1],
      ],
    ]);
  });

  it('goes on, and still asks, when the person has left', async () => {
    const { table, turns } = tableOf([HUNT_HARE, NO_ACTION]);
    const places = {
      agents: [
        [0, 1],
        [2, 2],
      ],
      hares: [
        [0, 1],
        [2, 1],
      ],
    };
    const { steps } = await table.play({ layout: places });
    expect(turns.map(({ isActive, returns, before }) => [isActive, returns, before?.left])).toEqual([
      [true, [0, 0], undefined],
      [false, [1, 0], [true, false]],
    ]);
    expect(steps[1]).toMatchObject({ actions: [null, HUNT_HARE], rewards: [0, 1] });
  });

  it('refuses an action that is not legal, by name', async () => {
    const { table } = tableOf([LEFT]);
    await expect(table.play({ layout })).rejects.toThrow(
      'Person (agent_0).act: expected a legal action for agent_0 in environment 0, step 0: 1 down, 3 right, 4 stay, got 2.',
    );
  });

  it.each([4.5, '4', 2 ** 32 + 4, Number.NaN, undefined, null])('takes %s for no action', async (answer) => {
    const { table } = tableOf([answer as number]);
    await expect(table.play({ layout })).rejects.toThrow('createTable: option decide: expected an action, 0 to 6, got');
  });

  it('lets co-players remember the person from game to game, but nothing of a game that was broken off', async () => {
    const hunt = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
    const other = titForTat({ game: hunt, id: 'agent_1' });
    let answer: (turn: Turn) => number = () => STAY;
    const table = createTable({ game: hunt, person: 'agent_0', others: [other], decide: (turn) => answer(turn) });
    const places = {
      agents: [
        [0, 0],
        [2, 0],
      ],
      stags: [[0, 0]],
      hares: [[2, 2]],
    };
    const first = await table.play({ layout: places });
    expect(first.steps.map(({ actions }) => actions[1])).toContain(UP); // it begins with stags
    const remembered = other.save?.();
    expect(remembered).toMatchObject({ lastEpisode: Int32Array.of(0) }); // nobody else hunted one
    answer = (turn) => {
      if (turn.step === 1) throw new Error('enough');
      return HUNT_STAG;
    };
    await expect(table.play({ layout: places })).rejects.toThrow('enough');
    expect(other.save?.()).toEqual(remembered);
    answer = () => STAY;
    const second = await table.play({ layout: places });
    expect(second.steps[0].actions[1]).toBe(RIGHT); // to the hare
  });

  it('plays the same game for the same seed', async () => {
    const random = stagHunt({ size: 4, agents: 2, preyMoves: 0.5 });
    const others = [nearestStag({ game: random, id: 'agent_0' })];
    const table = createTable({ game: random, person: 'agent_1', others, decide: () => STAY });
    const [first, again, otherwise] = [
      await table.play({ seed: 3 }),
      await table.play({ seed: 3 }),
      await table.play({ seed: 4 }),
    ];
    expect(again).toEqual(first);
    expect(otherwise.frames[0]).not.toEqual(first.frames[0]);
  });

  it('refuses seats and co-players that are not of the game', () => {
    const decide = () => STAY;
    expect(() => createTable({ game, person: 'agent_7', others: [], decide })).toThrow(
      'expected one of agent_0, agent_1, got "agent_7"',
    );
    expect(() => createTable({ game, person: 'agent_0', others: [], decide })).toThrow(
      'one agent with the id "agent_1"',
    );
  });

  it('refuses options that it does not have, or that are of another kind', () => {
    const options = { game, person: 'agent_0', others: [nearestHare({ game, id: 'agent_1' })], decide: () => STAY };
    const make = (changes: object) => () => createTable({ ...options, ...changes });
    expect(make({})().person).toBe('agent_0');
    expect(make({ naem: 'Ann' })).toThrow(
      'createTable: expected known options only, got the unknown option "naem". Did you mean name? The options are: game, person, others,',
    );
    expect(make({ decide: 4 })).toThrow(
      'createTable: option decide: expected a function that chooses an action, got 4',
    );
    expect(make({ others: options.others[0] })).toThrow('createTable: option others: expected a list of agents');
    expect(make({ name: 7 })).toThrow('createTable: option name');
  });

  it('tells what co-players may be after: by Bayes, from steps towards something', async () => {
    // Agent 1 in the middle of a row between a stag on the left and a hare on the right.
    const row = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 });
    const turns: Turn[] = [];
    const table = createTable({
      game: row,
      person: 'agent_0',
      others: [nearestHare({ game: row, id: 'agent_1' })],
      decide: (turn) => {
        turns.push(turn);
        return STAY;
      },
    });
    await table.play({ layout: '1..\nS2h\n...' });
    // All five actions are legal. To the hare, right costs 0 steps, staying 1, the other moves 2: weights exp(-2 cost).
    // To the stag, right costs 2.
    const total = 1 + Math.exp(-2) + 3 * Math.exp(-4);
    const [stag, hare] = [Math.exp(-4) / total, 1 / total];
    const believed = turns.map(({ beliefs }) => [...beliefs!]);
    expect(believed[0]).toEqual([0, 0, 0.5, 0.5]);
    expect(believed[1][2]).toBeCloseTo(stag / (stag + hare), 12);
    expect(believed[1][3]).toBeCloseTo(hare / (stag + hare), 12);
  });
});
