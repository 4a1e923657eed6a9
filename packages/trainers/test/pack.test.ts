import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluate } from '@coplay/core';
import { cartPole, matrixGame } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { packAgents, ppoAgent, selfPlay, unpackAgents } from '@coplay/trainers';
import { decodeSafetensors, encodeSafetensors } from '@coplay/trainers/checkpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'coplay-pack-'));
const directory = join(folder, 'run');
const game = matrixGame({ kind: 'stag-hunt', maxSteps: 4 });
let bytes: Uint8Array;

beforeAll(async () => {
  await useBackend('wasm');
  const agents = game.agents.map((id) => ppoAgent({ game, id, network: mlp({ hidden: [32] }) }));
  const run = selfPlay({ game, agents, envs: 4, steps: 8, seed: 1, directory });
  await run.train({ envSteps: 512 });
  run.dispose();
  bytes = await packAgents(directory);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The file with other texts. */
function changed(texts: Readonly<Record<string, string>>): Uint8Array {
  const { arrays, metadata } = decodeSafetensors(bytes);
  return Buffer.concat(encodeSafetensors(arrays, { ...metadata, ...texts }));
}

const messageOf = (file: Uint8Array, of = game) =>
  unpackAgents(file, { game: of }).then(
    () => 'taken',
    (error: Error) => error.message,
  );

describe('a file of agents', () => {
  it('has no optimisers, and 2 bytes for each parameter', () => {
    const { arrays } = decodeSafetensors(bytes);
    const names = Object.keys(arrays);
    expect(names.filter((name) => name.includes('params'))).toHaveLength(2 * 2 * 4); // agents, actor and critic, arrays
    expect(names.filter((name) => /slots|buffer/.test(name))).toEqual([]);
    const parameters = names.filter((name) => name.includes('params')).map((name) => arrays[name].data);
    expect(parameters.every((data) => data instanceof Uint16Array)).toBe(true);
    // Each network reads 5 inputs into 32 units: 192 numbers; 66 for two actions, 33 for the value.
    expect(parameters.reduce((sum, { length }) => sum + length, 0)).toBe(2 * (192 + 66 + 192 + 33));
  });

  it('plays almost as the run: a rounded policy draws the same actions, but for some in a thousand', async () => {
    const [short, long] = await Promise.all(
      [bytes, await packAgents(directory, { bits: 32 })].map((file) => unpackAgents(file, { game })),
    );
    const [one, other] = await Promise.all(
      [short, long].map(({ agents }) => evaluate(game, agents, { episodes: 200 })),
    );
    const equal = one.returns.filter((value, i) => value === other.returns[i]).length;
    expect(equal).toBeGreaterThan(0.95 * one.returns.length);
    for (const { dispose } of [short, long]) dispose();
  });

  it('is refused where it is of a newer version, of something else, or cut', async () => {
    const newer = await messageOf(changed({ version: '2', library: '9.0.0' }));
    expect(newer).toContain(
      'expected a file of agents of version 1, got version "2", written by @coplay/trainers "9.0.0"',
    );
    expect(await messageOf(changed({ format: 'other' }))).toContain('a safetensors file of something else');
    expect(await messageOf(bytes.slice(0, -8))).toContain('decodeSafetensors');
    const { arrays, metadata } = decodeSafetensors(bytes);
    const { config: _, ...others } = metadata;
    expect(await messageOf(Buffer.concat(encodeSafetensors(arrays, others)))).toContain('no text config');
  });

  it('is refused in another game', async () => {
    expect(await messageOf(bytes, matrixGame({ kind: 'stag-hunt', maxSteps: 5 }))).toContain('game.options.maxSteps 4');
  });

  it('needs each parameter', async () => {
    const { arrays, metadata } = decodeSafetensors(bytes);
    const state = JSON.parse(metadata['state']);
    delete state.learners.agent_1.params['critic/head/bias'];
    delete (arrays as Record<string, unknown>)['learners/agent_1/params/critic%2Fhead%2Fbias'];
    const texts = { ...metadata, state: JSON.stringify(state) };
    const sum = createHash('sha256').update(`${metadata['config']}${texts.state}${metadata['halves']}`);
    for (const name of Object.keys(arrays).sort()) sum.update(new Uint8Array(arrays[name].data.slice().buffer));
    const file = Buffer.concat(encodeSafetensors(arrays, { ...texts, sha256: sum.digest('hex') }));
    expect(await messageOf(file)).toContain('critic/head/bias');
  });

  it('is refused where one byte of its numbers or texts is another', async () => {
    const start = 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    for (const at of [start, Math.floor((start + bytes.length) / 2), bytes.length - 1]) {
      const other = bytes.slice();
      other[at] ^= 0x55;
      expect(await messageOf(other), `byte ${at}`).toMatch(/damaged|SHA-256/);
    }
    expect(await messageOf(changed({ halves: '[]' }))).toContain('a damaged file: its checksum differs');
  });

  it('keeps statistics of inputs, and numbers too large for 16 bits, as they are', async () => {
    const place = join(folder, 'far');
    const plain = cartPole();
    const observe: typeof plain.observe = (state, from, seat, into, row) => {
      plain.observe(state, from, seat, into, row);
      into[Object.keys(into)[0]][row * 4] += 1e5;
    };
    const far = { ...plain, observe };
    const agents = [ppoAgent({ game: far, id: far.agents[0], ppo: { normaliseObservations: true } })];
    const run = selfPlay({ game: far, agents, envs: 4, steps: 16, seed: 1, directory: place });
    await run.train({ envSteps: 128 });
    run.dispose();
    const { agents: back, dispose } = await unpackAgents(await packAgents(place), { game: far });
    const { arrays } = decodeSafetensors(await packAgents(place));
    const statistics = Object.keys(arrays).filter((name) => name.includes('normal'));
    expect(statistics.length).toBeGreaterThan(0);
    expect(statistics.every((name) => !(arrays[name].data instanceof Uint16Array))).toBe(true);
    expect((await evaluate(far, back, { episodes: 4 })).mean).toBeGreaterThan(0);
    dispose();
  });
});
