import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Recording, readRecording, replayEpisode, stagHunt } from '@coplay/envs';
import { beforeAll, describe, expect, it } from 'vitest';
import { coplay, written } from './command-line';

const folder = mkdtempSync(join(tmpdir(), 'coplay-record-'));
const run = join(folder, 'run');
const { name, ...OPTIONS } = { name: 'stag-hunt', size: 3, agents: 3, stags: 1, hares: 1, maxSteps: 5 };
const small = { network: { kind: 'mlp', hidden: [8] }, executor: 'eager' };
const models = { moa: { network: small.network }, worldModel: { stepsPerUpdate: 1, batchSize: 8 }, omg: false };
const CONFIGURATION = {
  game: { name, ...OPTIONS },
  agents: { kind: 'ppo', ...small },
  seats: {
    agent_1: { kind: 'nearest-hare' },
    agent_2: { kind: 'hop-plus', ...small, ...models },
  },
  ...{ envs: 4, steps: 8, envSteps: 32, log: [] },
};

/** The episodes inside of a page. */
function episodesIn(page: string): [title: string, recording: Recording][] {
  const found = readFileSync(page, 'utf8').matchAll(/data-coplay-replay="([^"]*)">([^<]*)</g);
  return Array.from(found, ([, title, packed]) => [
    title,
    JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString()) as Recording,
  ]);
}

describe('coplay record', () => {
  beforeAll(async () => {
    const ended = await coplay(['train', written(folder, CONFIGURATION), '--directory', run]);
    expect(ended).toMatchObject({ code: 0 });
  });

  it('writes an episode: what was seen, done, told and foretold, by the rules of the game', async () => {
    const { code, out } = await coplay(['record', run]);
    const recording = await readRecording(join(run, 'episode.coplay'));
    replayEpisode(stagHunt(OPTIONS), recording); // throws where a step comes out otherwise
    expect(recording.players).toEqual(['PPO', 'NearestHare', 'HOP+']);
    const { observation, frames, steps } = recording;
    expect(Object.keys(observation!)).toEqual(Object.keys(stagHunt(OPTIONS).observation));
    expect(frames[0].observations).toHaveLength(3);
    const [ppo, rule, hopPlus] = steps[0].insights!;
    for (const insight of [ppo, hopPlus]) {
      expect(insight!.policy!.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
      expect(Number.isFinite(insight!.value)).toBe(true);
    }
    expect(rule).toBeNull();
    expect(steps.every(({ predicted }) => predicted!.state.length === frames[0].state.length)).toBe(true);
    const [, , row] = out.split('\n');
    const returns = [0, 1, 2].map((seat) => steps.reduce((sum, { rewards }) => sum + rewards[seat], 0));
    const [file, ...numbers] = row.split(/ {2,}/);
    expect([code, file, Number(numbers[0])]).toEqual([0, join(run, 'episode.coplay'), steps.length]);
    numbers.slice(1).forEach((shown, seat) => {
      expect(Number(shown)).toBeCloseTo(returns[seat], 3);
    });
    expect(numbers).toHaveLength(4);
  });

  it('numbers several, puts them on a page, and in the report of the run', async () => {
    const out = join(folder, 'new/hunt.coplay');
    const page = join(folder, 'pages/hunt.html');
    const gif = join(folder, 'pages/hunt.gif');
    const ended = await coplay([
      'record',
      run,
      '--episodes',
      '2',
      '--out',
      out,
      '--page',
      page,
      '--gif',
      gif,
      '--report',
    ]);
    expect(ended).toMatchObject({ code: 0, err: expect.not.stringContaining('Error') });
    expect(existsSync(out)).toBe(false);
    const files = [1, 2].map((i) => join(folder, `new/hunt-${i}.coplay`));
    const recordings = await Promise.all(files.map(readRecording));
    expect(recordings[0].generator).not.toEqual(recordings[1].generator);
    const bytes = readFileSync(gif);
    expect([
      bytes.subarray(0, 6).toString(),
      bytes.filter((byte, i) => byte === 0xf9 && bytes[i - 1] === 0x21).length,
    ]).toEqual(['GIF89a', recordings[0].frames.length]);
    expect(episodesIn(page).map(([, recording]) => recording)).toEqual(recordings);
    expect(readFileSync(page, 'utf8')).toContain('<title>stag-hunt after 32 steps - Coplay replay</title>');
    expect(episodesIn(join(run, 'report.html'))).toEqual([
      ['stag-hunt after 32 steps, episode 1', recordings[0]],
      ['stag-hunt after 32 steps, episode 2', recordings[1]],
    ]);
  });

  it('records the same for the same seed, and another episode for another', async () => {
    const [first, second, other] = ['a', 'b', 'c'].map((file) => join(folder, file));
    const seeds = { [first]: '5', [second]: '5', [other]: '6' };
    for (const [file, seed] of Object.entries(seeds)) await coplay(['record', run, '--seed', seed, '--out', file]);
    expect(await readRecording(second)).toEqual(await readRecording(first));
    expect(await readRecording(other)).not.toEqual(await readRecording(first));
  });

  it('says what is wrong', async () => {
    const none = await coplay(['record', run, '--episodes', '0']);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('--episodes: expected a whole number from 1') });
    expect(await coplay(['record', folder])).toMatchObject({ code: 1, err: expect.stringContaining('`coplay train`') });
  });
});
