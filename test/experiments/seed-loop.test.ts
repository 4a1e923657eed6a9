import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { setAside } from '../../bench/harness/files';
import { createSeedLoop } from '../../bench/harness/seed-loop';

function newPlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'coplay-seeds-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

const quiet = { commit: 'abc', ran: () => {}, say: () => {} };

/** Squares of three seeds, and the seeds that were worked on. */
async function squares(directory: string, { isResume = true, identity = {}, failAt = 0 } = {}) {
  const worked: number[] = [];
  const loop = createSeedLoop({ seeds: [1, 2, 3], directory, isResume, identity, ...quiet });
  const results = await loop('Own weights', (seed) => {
    worked.push(seed);
    if (seed === failAt) throw new Error('broken off');
    return { square: seed * seed };
  });
  return { worked, squares: results.map(({ square }) => square) };
}

describe('seedLoop', () => {
  it('keeps each seed as soon as it is finished', async () => {
    const place = newPlace();
    await expect(squares(place, { failAt: 3 })).rejects.toThrow('broken off');
    expect(JSON.parse(readFileSync(join(place, 'own-weights-seed-2.json'), 'utf8')).data).toEqual({ square: 4 });
    expect(await squares(place)).toEqual({ worked: [3], squares: [1, 4, 9] });
    expect(await squares(place)).toEqual({ worked: [], squares: [1, 4, 9] });
  });

  it('keeps the commit of each seed', async () => {
    const directory = newPlace();
    const commitsAt = async (commit: string, highest: number) => {
      const commits: (string | null)[] = [];
      const ran = (_: string, seed: number, at: string | null) => {
        commits[seed] = at;
      };
      const loop = createSeedLoop({ seeds: [0, 1], directory, isResume: true, identity: {}, ...quiet, commit, ran });
      await loop('some', (seed) => (seed > highest ? null : seed));
      return commits;
    };
    expect(await commitsAt('abc', 0)).toEqual(['abc']);
    expect(await commitsAt('def', 1)).toEqual(['abc', 'def']);
    const path = join(directory, 'some-seed-0.json');
    const { commit: _, ...old } = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify(old));
    expect(await commitsAt('def', 1)).toEqual([null, 'def']);
  });

  it('does everything anew where it is not to resume', async () => {
    const place = newPlace();
    await squares(place);
    expect((await squares(place, { isResume: false })).worked).toEqual([1, 2, 3]);
  });

  it('does a seed again that was made with other settings, or whose file is damaged', async () => {
    const place = newPlace();
    await squares(place, { identity: { size: '4' } });
    expect((await squares(place, { identity: { size: '8' } })).worked).toEqual([1, 2, 3]);
    writeFileSync(join(place, 'own-weights-seed-2.json'), '{"identity"');
    expect((await squares(place, { identity: { size: '8' } })).worked).toEqual([2]);
  });

  it('gives numbers that JSON has no word for back as they were', async () => {
    const directory = newPlace();
    const work = () => ({ never: Infinity, unmeasured: Number.NaN, least: -Infinity, text: 'nan' });
    const loop = createSeedLoop({ seeds: [1], directory, isResume: true, identity: {}, ...quiet });
    const first = await loop('figures', work);
    expect(first).toEqual([work()]);
    expect(await loop('figures', () => Promise.reject(new Error('worked again')))).toEqual(first);
  });

  it('keeps nothing of a seed that was left out, also where an older file says so', async () => {
    const directory = newPlace();
    const most = async (highest: number) => {
      const loop = createSeedLoop({ seeds: [1, 2], directory, isResume: true, identity: {}, ...quiet });
      return loop('some', (seed) => (seed > highest ? null : seed));
    };
    expect(await most(1)).toEqual([1, null]);
    writeFileSync(
      join(directory, 'some-seed-2.json'),
      JSON.stringify({ identity: { label: 'some', seed: 2 }, data: null }),
    );
    expect(await most(2)).toEqual([1, 2]);
  });
});

describe('setAside', () => {
  it('keeps the previous raw data next to the new', async () => {
    const place = join(newPlace(), 'raw');
    await squares(place);
    setAside(place);
    setAside(place);
    expect(readFileSync(join(`${place}.old`, 'own-weights-seed-1.json'), 'utf8')).toContain('"square": 1');
  });
});
