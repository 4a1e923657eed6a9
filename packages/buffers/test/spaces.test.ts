import {
  agentRows,
  agentSequences,
  concatExperience,
  createEpisodeCollector,
  decodeExperience,
  encodeExperience,
  episodeStatistics,
  selectEnvs,
  sliceSteps,
  splitEpisodes,
  splitSegments,
} from '@coplay/buffers';
import { fromRecords, streamRecords, toRecords } from '@coplay/buffers/records';
import {
  type ActionSpaces,
  createGenerator,
  createRollout,
  type Experience,
  type NamedArrays,
  vectorEnv,
} from '@coplay/core';
import { pendulum, randomAgent } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { mixedGame } from '../../core/test/mixed-game';

const game = mixedGame();
const A = 3;
const W = 2;

/** [2, T] of the mixed game, whose episodes have five steps; the walker leaves with the third. */
async function played(steps: number, seed = 1): Promise<Experience<ActionSpaces>> {
  const players = game.agents.map((id) => randomAgent({ game, id }));
  const env = vectorEnv(game, { envs: 2, seed });
  return createRollout(env, players, createGenerator(seed)).collect(steps);
}

/** The actions [A, W] of a step. */
const actionsAt = ({ actions, steps }: Experience<ActionSpaces>, env: number, t: number) => [
  ...actions.subarray((env * steps + t) * A * W, (env * steps + t + 1) * A * W),
];

describe('experience of other spaces', () => {
  it('is split into whole episodes, with the actions of each step', async () => {
    const experience = await played(7);
    const episodes = splitEpisodes(experience);
    expect([episodes.envs, episodes.steps]).toEqual([2, 5]);
    expect(episodes.actionSpaces).toEqual(game.actions);
    for (let env = 0; env < 2; env++) {
      for (let t = 0; t < 5; t++) expect(actionsAt(episodes, env, t)).toEqual(actionsAt(experience, env, t));
    }
    const { lengths } = splitEpisodes(experience, { partial: 'keep' });
    expect([...lengths]).toEqual([5, 2, 5, 2]);
    // The arm earns -(x - 1/2)^2 - (y + 1)^2 of its own actions.
    const { returnMean } = episodeStatistics(episodes);
    const sums = [0, 1].map((env) =>
      [0, 1, 2, 3, 4].reduce((sum, t) => {
        const [, , x, y] = actionsAt(episodes, env, t);
        return sum - (x - 0.5) ** 2 - (y + 1) ** 2;
      }, 0),
    );
    expect(returnMean['arm']).toBeCloseTo((sums[0] + sums[1]) / 2, 3);
  });

  it('is sliced, selected and joined', async () => {
    const experience = await played(6);
    const slice = sliceSteps(experience, 2, 4);
    expect(actionsAt(slice, 1, 0)).toEqual(actionsAt(experience, 1, 2));
    // The cut after the slice has the actions of its last step.
    expect([...slice.cuts.previousActions.subarray(0, A * W)]).toEqual([
      ...experience.previousActions.subarray(4 * A * W, 5 * A * W),
    ]);
    const joined = concatExperience([selectEnvs(experience, [1]), selectEnvs(experience, [0])]);
    expect(actionsAt(joined, 0, 3)).toEqual(actionsAt(experience, 1, 3));
    const segments = splitSegments(experience, 4);
    expect([segments.envs, segments.steps]).toEqual([4, 4]);
    expect(actionsAt(segments, 3, 1)).toEqual(actionsAt(experience, 1, 5));
    const swing = pendulum({ maxSteps: 3 });
    const other = await createRollout(
      vectorEnv(swing, { envs: 1 }),
      [randomAgent({ game: swing, id: 'agent_0' })],
      createGenerator(1),
    ).collect(3);
    expect(() => concatExperience<ActionSpaces>([experience, other])).toThrow(/agents: walker, arm, clerk/);
    const bounded = { ...experience, actionSpaces: { ...(game.actions as object), walker: 4 } } as typeof experience;
    expect(() => concatExperience([experience, { ...bounded, actionCount: 5 }])).toThrow(/actionSpaces: \[3,/);
  });

  it('gives the rows of one agent', async () => {
    const experience = await played(5);
    const rows = agentRows(experience, 0);
    expect(rows['actions'].shape).toEqual([6, W]); // three steps in each environment
    expect(rows['previousActions'].shape).toEqual([6, A, W]);
    expect([...rows['actions'].data.slice(0, W)]).toEqual(actionsAt(experience, 0, 0).slice(0, W));
    const sequences = agentSequences(experience, 1, { length: 5 });
    expect(sequences['actions'].shape).toEqual([2, 5, W]);
    expect([...sequences['actions'].data.slice(2 * W, 3 * W)]).toEqual(actionsAt(experience, 0, 2).slice(W, 2 * W));
  });

  it('is the same after a file', async () => {
    const experience = await played(7);
    const read = decodeExperience<ActionSpaces>(encodeExperience(experience));
    expect(read).toEqual(experience);
    expect(read.actions).toBeInstanceOf(Float32Array);
    const swing = pendulum({ maxSteps: 3 });
    const one = await createRollout(
      vectorEnv(swing, { envs: 1 }),
      [randomAgent({ game: swing, id: 'agent_0' })],
      createGenerator(1),
    ).collect(3);
    // One space for all becomes the space of each.
    expect(decodeExperience(encodeExperience(one))).toEqual({ ...one, actionSpaces: { agent_0: swing.actions } });
  });

  it('is collected by episodes over segments, and goes on after a restore', async () => {
    const players = game.agents.map((id) => randomAgent({ game, id }));
    const rollout = createRollout(vectorEnv(game, { envs: 2, seed: 2 }), players, createGenerator(2));
    const segments = [await rollout.collect(3), await rollout.collect(4)];
    const collector = createEpisodeCollector<ActionSpaces>();
    expect(collector.push(segments[0]).envs).toBe(0);
    const saved = collector.state();
    const restored = createEpisodeCollector<ActionSpaces>();
    restored.restore(saved);
    const episodes = restored.push(segments[1]);
    expect(episodes).toEqual(collector.push(segments[1]));
    expect(actionsAt(episodes, 0, 2)).toEqual(actionsAt(segments[0], 0, 2));
    expect(actionsAt(episodes, 0, 3)).toEqual(actionsAt(segments[1], 0, 0));
    const { about, arrays } = saved as unknown as { about: object; arrays: NamedArrays };
    const wrong = arrays['actions'].data.slice();
    wrong[2] = 7; // the arm's first number
    const damaged = { about, arrays: { ...arrays, actions: { ...arrays['actions'], data: wrong } } };
    expect(() => createEpisodeCollector().restore(damaged as never)).toThrow(
      /saved\.arrays\.actions: expected a number from -1 to 1 as value 0 in row 1, got 7/,
    );
    const bare = { about: { ...about, spaces: undefined }, arrays };
    expect(() => createEpisodeCollector().restore(bare as never)).toThrow(/a space for each agent in version 2/);
    const few = { about: { ...about, spaces: [3] }, arrays };
    expect(() => createEpisodeCollector().restore(few as never)).toThrow(/expected 3 spaces/);
  });
});

describe('rows of an agent in a game of boxes', () => {
  it('have masks of no bytes', async () => {
    const swing = pendulum({ maxSteps: 4 });
    const [id] = swing.agents;
    const env = vectorEnv(swing, { envs: 2, seed: 1 });
    const experience = await createRollout(env, [randomAgent({ game: swing, id })], createGenerator(1)).collect(4);
    const { masks, actions } = agentRows(experience, 0);
    expect([masks.shape, actions.shape]).toEqual([
      [8, 0],
      [8, 1],
    ]);
  });
});

describe('records of other spaces', () => {
  it('hold the actions that led to each, none in the first one, and after an agent left', async () => {
    const experience = await played(5);
    const { records } = streamRecords(experience);
    expect([records.actions instanceof Float32Array, records.actionSpaces]).toEqual([true, game.actions]);
    const R = 6;
    const at = (data: ArrayLike<number>, env: number, r: number) =>
      Array.from({ length: A * W }, (_, i) => data[(env * R + r) * A * W + i]);
    const NONE = Number.NaN;
    for (const env of [0, 1]) {
      const taken = [0, 1, 2, 3, 4].map((t) => actionsAt(experience, env, t));
      // The walker has one value, and leaves with the third action.
      expect(at(records.previousActions, env, 0)).toEqual(new Array<number>(A * W).fill(NONE));
      for (const t of [0, 1, 2]) expect(at(records.previousActions, env, t + 1)).toEqual(taken[t]);
      for (const t of [3, 4]) {
        const [, , ...others] = taken[t];
        expect(at(records.previousActions, env, t + 1).slice(2)).toEqual(others);
        expect(at(records.previousActions, env, t + 1)[0]).toBeNaN();
      }
      for (const t of [0, 1, 2, 3, 4]) expect(at(records.actions, env, t)).toEqual(taken[t]);
      expect(at(records.actions, env, 5)).toEqual(new Array<number>(A * W).fill(0));
    }
  });

  it('become the same experience again', async () => {
    const episodes = splitEpisodes(await played(12), { partial: 'keep' });
    const { states: _, cuts, ...expected } = episodes;
    const { cuts: ownCuts, ...back } = fromRecords(toRecords(episodes));
    expect(back).toEqual(expected);
    const inOrder = (c: typeof cuts) => Array.from(c.env, (env, n) => [env, c.step[n], actionsOfCut(c, n)]).sort();
    expect(inOrder(ownCuts)).toEqual(inOrder(cuts));
  });

  it('are refused where their actions have another type or length', async () => {
    const records = toRecords(splitEpisodes(await played(5)));
    const wrong = { ...records, actions: new Int32Array(records.actions.length) };
    expect(() => fromRecords(wrong as typeof records)).toThrow(/records\.actions: expected Float32Array/);
    expect(() => fromRecords({ ...records, actionCount: 4 })).toThrow(/records\.actionCount: expected 5, got 4/);
  });
});

/** The actions [A, W] before a cut. */
function actionsOfCut({ previousActions }: Experience<ActionSpaces>['cuts'], n: number): number[] {
  return [...previousActions.subarray(n * A * W, (n + 1) * A * W)];
}
