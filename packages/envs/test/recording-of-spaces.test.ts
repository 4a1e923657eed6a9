import { type AnyGame, box, rulesSimulator } from '@coplay/core';
import {
  actionText,
  checkRecording,
  decodeRecording,
  encodeRecording,
  pendulum,
  type Recording,
  randomAgent,
  recordEpisode,
  renderReplay,
  replayEpisode,
  stagHunt,
} from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { LEAVES, mixedGame } from '../../core/test/mixed-game';

const game = mixedGame();
const record = (played: AnyGame, seed = 1) =>
  recordEpisode(
    played,
    played.agents.map((id) => randomAgent({ game: played, id })),
    { seed },
  );
/** A copy with another value at a path; without it where that is undefined. */
function changed(recording: Recording, path: string, value: unknown): Recording {
  const copy = structuredClone(recording);
  const keys = path.split('.');
  const last = keys.pop() as string;
  let part = copy as unknown as Record<string, unknown>;
  for (const key of keys) part = part[key] as Record<string, unknown>;
  if (value === undefined) delete part[last];
  else part[last] = value;
  return copy;
}

describe('a recording of a game with a space for each agent', () => {
  it('says the spaces, and a number or a list for each action', async () => {
    const recording = await record(game);
    expect(recording.version).toBe(2);
    expect(recording.spaces).toEqual([
      3,
      { kind: 'box', shape: [2], low: [-1, null], high: [1, null] },
      { kind: 'multi-discrete', counts: [2, 3] },
    ]);
    expect(recording.steps).toHaveLength(5);
    recording.steps.forEach(({ actions: [walker, arm, clerk], rewards }, t) => {
      if (t < LEAVES) expect(Number.isInteger(walker)).toBe(true);
      else expect(walker).toBeNull();
      const [[x, y], [first, second]] = [arm, clerk] as [number, number][];
      expect(Math.fround(x)).toBe(x); // as the game received it
      expect(rewards[1]).toBeCloseTo(-((x - 0.5) ** 2) - (y + 1) ** 2, 4);
      expect(rewards[2]).toBe((first === 1 ? 1 : 0) + (second === 2 ? 1 : 0));
    });
  });

  it('is the same after a file, and replays to the bit', async () => {
    const recording = await record(game);
    const read = await decodeRecording(await encodeRecording(recording));
    expect(read).toEqual(recording);
    replayEpisode(game, read);
  });

  it('is told in words', async () => {
    const recording = await record(game);
    expect(actionText(recording, 2)).toBe('2');
    expect(actionText(recording, [0.12345, -3])).toBe('first 0.123, second -3');
    expect(actionText(await record(stagHunt({ size: 3 }) as AnyGame), 6)).toBe('hunt hare');
    expect(renderReplay(recording)).toMatch(/\n2 first -?[\d.]+, second -?[\d.]+ +-/);
  });

  it.each([
    ['version', 3, /version 1 or 2, got version 3/],
    ['spaces', undefined, /version 2 without spaces/],
    ['version', 1, /version 1 with spaces/],
    ['spaces', [3, 3], /spaces: 2, of 3 agents/],
    ['spaces.1.low', [0], /spaces\.1\.low: 1, of 2 values/],
    ['spaces.1.kind', 'ball', /spaces\.1/],
    ['steps.1.actions.1.0', 2, /steps\.1\.actions\.1: 2 in place of a number from -1 to 1 as value 0/],
    ['steps.1.actions.2.1', 3, /steps\.1\.actions\.2: 3 in place of a whole number from 0 to 2 as value 1/],
    ['steps.0.actions.0', [1], /steps\.0\.actions\.0: \[1\], in place of a number/],
    ['steps.0.actions.1', 1, /steps\.0\.actions\.1: 1, in place of a list/],
    ['steps.0.actions.1', [1], /steps\.0\.actions\.1\.values: 1, of 2 values/],
  ])('is refused where %s is %j', async (path, value, says) => {
    const damaged = changed(await record(game), path, value);
    expect(() => checkRecording('test', damaged)).toThrow(says);
  });

  it('belongs to a game of these spaces', async () => {
    const recording = await record(game);
    const other = { ...game, actions: { ...(game.actions as object), arm: box({ shape: [2], low: -2 }) } } as AnyGame;
    expect(() => replayEpisode(other, recording)).toThrow(/replayEpisode: expected a recording of mixed-game/);
    expect(() => replayEpisode(pendulum(), recording)).toThrow(/a recording of pendulum/);
  });

  it('has no predictions: simulators play discrete actions', async () => {
    const simulator = rulesSimulator(stagHunt({ size: 3 }));
    const players = game.agents.map((id) => randomAgent({ game, id }));
    await expect(recordEpisode(game, players, { simulator })).rejects.toThrow(
      /recordEpisode with a simulator: actions of mixed-game: expected discrete actions.*docs\/spaces\.md/,
    );
  });
});

it('a recorded pendulum replays to the bit', async () => {
  const swing = pendulum({ maxSteps: 20 });
  const recording = await recordEpisode(swing, [randomAgent({ game: swing, id: 'agent_0' })], { seed: 2 });
  replayEpisode(swing, await decodeRecording(await encodeRecording(recording)));
  const torques = recording.steps.map(({ actions }) => (actions[0] as number[])[0]);
  expect(torques.every((torque) => Math.abs(torque) <= 2)).toBe(true);
  expect(new Set(torques).size).toBe(20);
  const damaged = changed(recording, 'steps.3.actions.0.0', -torques[3]);
  expect(() => replayEpisode(swing, damaged)).toThrow('step 4 as it was recorded');
});

it('recordings of discrete actions are as they were', async () => {
  const small = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
  const recording = await record(small as AnyGame);
  expect(recording.version).toBe(1);
  expect('spaces' in recording).toBe(false);
  expect(
    recording.steps.every(({ actions }) => actions.every((action) => typeof action !== 'object' || action === null)),
  ).toBe(true);
  const damaged = changed(recording, 'steps.0.actions.0', [1]);
  expect(() => checkRecording('test', damaged)).toThrow(/steps\.0\.actions\.0: \[1\], in version 1/);
});
