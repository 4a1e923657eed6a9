import { describe, expect, test } from 'vitest';
import { describeCheckpoint, resumeFits } from './resume';

const about = {
  game: { name: 'stag-hunt', options: { size: 4, agents: 4 } },
  agents: [
    { id: 'agent_0', name: 'PPO' },
    { id: 'agent_1', name: 'NearestStag' },
  ],
  envs: 64,
  update: 24,
};

describe('resumeFits', () => {
  test('the same run fits, with any other facts in the checkpoint', () => {
    resumeFits(about, {});
    resumeFits(about, { game: about.game, agents: about.agents, envs: 64 });
    resumeFits(about, { envs: 64, note: undefined }); // as JSON there is no such field
  });

  const misfits: [string, Record<string, unknown>, RegExp][] = [
    [
      'other sizes',
      { game: { name: 'stag-hunt', options: { size: 8, agents: 4 } } },
      /expected the run of the checkpoint: game.options.size 4, got game.options.size 8\. Resume with/,
    ],
    [
      'another game',
      { game: { name: 'snowdrift', options: {} } },
      /game.name "stag-hunt", game.options.size 4, game.options.agents 4, got game.name "snowdrift", game.options.size undefined/,
    ],
    [
      'an agent in another seat',
      { agents: [...about.agents].reverse() },
      /agents.0.id "agent_0", .*got agents.0.id "agent_1"/,
    ],
    ['an agent less', { agents: about.agents.slice(0, 1) }, /agents.1 \{id, name\}, got agents.1 undefined/],
    ['a field that the checkpoint lacks', { horizon: 15 }, /horizon undefined, got horizon 15/],
    [
      'an option more',
      { game: { ...about.game, wrapper: 'permute' } },
      /game.wrapper undefined, got game.wrapper "permute"/,
    ],
    ['many', Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`f${i}`, i])), /f4 undefined \(and 2 more\)/],
  ];
  test.each(misfits)('%s is refused by field', (_, current, message) => {
    expect(() => resumeFits(about, current)).toThrow(message);
  });
});

describe('describeCheckpoint', () => {
  const checkpoint = { path: 'runs/a/step-000000012345', step: 12345, library: '0.1.0' };
  const noon = Date.UTC(2030, 0, 1, 12);

  test('says step, update and age in one line', () => {
    const full = { ...checkpoint, about: { update: 1024, savedAt: '2030-01-01T11:55:00.000Z' } };
    expect(describeCheckpoint(full, noon)).toBe(
      'step-000000012345: 12,345 steps, update 1,024, saved 5 minutes ago by version 0.1.0',
    );
    expect(describeCheckpoint({ ...full, about: {} }, noon)).toBe(
      'step-000000012345: 12,345 steps, saved by version 0.1.0',
    );
  });

  test.each([
    [0, 'less than a minute ago'],
    [59_999, 'less than a minute ago'],
    [60_000, '1 minute ago'],
    [3_599_999, '59 minutes ago'],
    [3_600_000, '1 hour ago'],
    [47 * 3_600_000, '47 hours ago'],
    [48 * 3_600_000, '2 days ago'],
    [-5_000, 'less than a minute ago'], // the clock was set back
  ])('an age of %i ms is "%s"', (age, words) => {
    const savedAt = new Date(noon - age).toISOString();
    expect(describeCheckpoint({ ...checkpoint, about: { savedAt } }, noon)).toContain(` saved ${words} by`);
  });
});
