import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeExperience, encodeExperience, loadExperience, saveExperience } from '@coplay/buffers';
import { decodeNpz, encodeNpz } from '@coplay/buffers/npz';
import { ndarray } from '@coplay/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { play } from './survival';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coplay-experience-'));
});
afterAll(async () => rm(directory, { recursive: true }));

const collect = () => play({ envs: 2, agents: 2, maxSteps: 4, deathRate: 0.2, seed: 1 }).collect(6);

describe('experience in files', () => {
  it('comes back as it was: every field, cuts and extras (P14)', async () => {
    const experience = await collect();
    expect(decodeExperience(encodeExperience(experience))).toEqual(experience);
    const path = join(directory, 'stream.npz');
    await saveExperience(path, experience);
    expect(await loadExperience(path)).toEqual(experience);
  });

  it('is one array for each field, flags as booleans', async () => {
    const arrays = decodeNpz(encodeExperience(await collect()));
    expect(arrays['observations/vector'].shape).toEqual([2, 6, 2, 3]);
    expect(arrays['extras/recurrent'].shape).toEqual([2, 6, 2, 2]);
    expect([arrays['terminated'].isBool, arrays['rewards'].isBool]).toEqual([true, undefined]);
    expect(JSON.parse(new TextDecoder().decode(arrays['about'].data as Uint8Array))).toMatchObject({
      version: 1,
      envs: 2,
    });
  });

  it('is refused where it is foreign, newer, incomplete or damaged, by name', async () => {
    const arrays = decodeNpz(encodeExperience(await collect()));
    const about = JSON.parse(new TextDecoder().decode(arrays['about'].data as Uint8Array));
    const withAbout = (change: object) =>
      encodeNpz({ ...arrays, about: ndarray(new TextEncoder().encode(JSON.stringify({ ...about, ...change }))) });
    expect(() => decodeExperience(withAbout({ format: 'other' }))).toThrow(/the format coplay-experience, got "other"/);
    expect(() => decodeExperience(withAbout({ version: 3 }))).toThrow(/version 1 or 2, got 3/);
    expect(() => decodeExperience(withAbout({ steps: 7 }))).toThrow(
      /of shape|of float32 \[2,7,2,3\], got float32 \[2,6,2,3\]/,
    );
    const text = JSON.stringify(about);
    const ofText = (changed: string) => encodeNpz({ ...arrays, about: ndarray(new TextEncoder().encode(changed)) });
    const proto = text.replace('"observation":{', '"observation":{"__proto__":null,');
    expect(() => decodeExperience(ofText(proto))).toThrow(
      /about\.observation: expected names of fields, got "__proto__"/,
    );
    expect(() => decodeExperience(ofText(text.replace('"steps":6', '"steps":1e999')))).toThrow(
      /about\.steps.*Infinity/,
    );
    const long = JSON.stringify('x'.repeat(100_000));
    const caught = (() => {
      try {
        return decodeExperience(ofText(text.replace('"steps":6', `"steps":${long}`)));
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(caught).toMatch(/^.{0,500}about\.steps.{0,500}$/);
    const { rewards, about: _, ...rest } = arrays;
    expect(() => decodeExperience(encodeNpz({ about: arrays['about'], ...rest }))).toThrow(
      /rewards of float32 \[2,6,2\], got none/,
    );
    expect(() => decodeExperience(encodeNpz({ rewards, ...rest }))).toThrow(
      /JSON in the array about, got no such array/,
    );
    const path = join(directory, 'cut.npz');
    await saveExperience(path, await collect());
    await writeFile(path, (await readFile(path)).subarray(0, -30));
    await expect(loadExperience(path)).rejects.toThrow(/cut\.npz.*damaged/);
  });
});
