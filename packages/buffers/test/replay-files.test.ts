import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSequenceReplay, loadReplay, type SequenceReplay, saveReplay } from '@coplay/buffers';
import { CoplayError, createGenerator, type NamedArrays, ndarray, type SavedState } from '@coplay/core';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'coplay-replay-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let directories = 0;
/** A directory that isn't there yet. */
const fresh = () => join(root, `${directories++}`);

/**
 * Steps `from`..`to - 1` of a stream: each holds the number of its step and stream, and a state that can be renewed.
 */
function steps(from: number, to: number, stream = 0): NamedArrays {
  const ids = Int32Array.from({ length: to - from }, (_, i) => stream * 1000 + from + i);
  return { id: ndarray(ids), state: ndarray(Float64Array.from([...ids].flatMap((id) => [id, -id])), [ids.length, 2]) };
}

/** Adds `count` steps to each stream, one at a time and in turn. */
function fill(replay: SequenceReplay, streams: number, count: number, from = 0): void {
  for (let t = from; t < from + count; t++) for (let s = 0; s < streams; s++) replay.push(steps(t, t + 1, s), s);
}

/** The ids of all held steps, by what a state says. */
function idsOf(saved: SavedState): number[] {
  return [...(saved as unknown as { buffer: { rows: NamedArrays } }).buffer.rows['id'].data];
}

/** A loaded replay of the same options. */
async function loaded(directory: string, options: Parameters<typeof createSequenceReplay>[0]): Promise<SequenceReplay> {
  const replay = createSequenceReplay(options);
  replay.restore(await loadReplay(directory));
  return replay;
}

const chunkNames = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('stream-'));
/** The path of the one file of a chunk that begins with this step of stream 0. */
const pathOf = (directory: string, first: number) => {
  const [name] = chunkNames(directory).filter((each) => each.startsWith(`stream-0-step-${first}-`));
  return join(directory, name);
};
const replaceState = (replay: SequenceReplay, step: number, value: number, stream = 0) => {
  const state = ndarray(Float64Array.of(value, value), [1, 1, 2]);
  replay.overwrite({ streams: Int32Array.of(stream), steps: Float64Array.of(step) }, { state });
};

// The properties of saving that DreamerV3's own tests of its replay check (embodied/tests/test_replay.py). There the
// capacity counts windows.
describe('saveReplay and loadReplay, as DreamerV3 does it', () => {
  const cases = [
    [1, 1, 1],
    [2, 1, 2],
    [5, 1, 10],
    [1, 2, 2],
    [5, 3, 15],
    [2, 7, 20],
  ].flatMap(([length, streams, items]) => [1, 4, 100].map((chunk) => [length, streams, items, chunk]));

  it.each(cases)('windows of %i steps, %i streams, room for %i windows each, chunks of %i', async (...each) => {
    const [length, streams, items, chunk] = each;
    const share = items + length - 1;
    const options = { length, streams, capacity: streams * share };
    const once = createSequenceReplay(options);
    fill(once, streams, 30);
    const directory = fresh();
    await saveReplay(directory, once.state(), { chunk });
    const stored = Math.min(share, 30);
    const files = Math.ceil(30 / chunk) - Math.floor((30 - stored) / chunk);
    expect(chunkNames(directory)).toHaveLength(streams * files);
    const again = await loaded(directory, options);
    expect(again.windows).toBe(streams * Math.min(30 - length + 1, items));
    expect(again.state()).toEqual(once.state());
    // No other files after many saves on the way than after a single one.
    const often = createSequenceReplay(options);
    const other = fresh();
    for (let t = 0; t < 30; t += 10) {
      fill(often, streams, 10, t);
      await saveReplay(other, often.state(), { chunk });
    }
    expect(chunkNames(other)).toHaveLength(streams * files);
    expect(await loadReplay(other)).toEqual(await loadReplay(directory));
  });

  it('draws windows that are contiguous and of one stream, over the borders of chunks', async () => {
    const options = { length: 7, streams: 2, capacity: 54 };
    const replay = createSequenceReplay(options);
    fill(replay, 2, 40);
    const directory = fresh();
    await saveReplay(directory, replay.state(), { chunk: 4 });
    const again = await loaded(directory, options);
    const { rows, streams, steps: firsts } = again.sample(createGenerator(1), 400);
    for (let b = 0; b < 400; b++) {
      const expected = Array.from({ length: 7 }, (_, i) => 1000 * streams[b] + firsts[b] + i);
      expect([...rows['id'].data.slice(7 * b, 7 * (b + 1))]).toEqual(expected);
    }
    expect(new Set(firsts).size).toBe(21); // 27 of each stream's 40 are held
    expect(Math.min(...firsts)).toBe(13);
  });

  it('stays consistent where steps are added, sampled, saved and loaded at a time', async () => {
    const replay = createSequenceReplay({ length: 3, streams: 3, capacity: 60 });
    const generator = createGenerator(2);
    const directory = fresh();
    const states: SavedState[] = [];
    const work: Promise<unknown>[] = [];
    const found: SavedState[] = [];
    for (let round = 0; round < 12; round++) {
      fill(replay, 3, 4, 4 * round);
      const { streams, steps: firsts } = replay.sample(generator, 5);
      replay.overwrite({ streams, steps: firsts }, { state: ndarray(new Float64Array(30).fill(round), [5, 3, 2]) });
      states.push(replay.state());
      work.push(saveReplay(directory, replay.state(), { chunk: 4 }));
      work.push(loadReplay(directory).then((state) => void found.push(state)));
      if (round % 3 === 0) await work[round];
    }
    await Promise.all(work);
    expect(found).toEqual(states);
  });
});

describe('saveReplay and loadReplay', () => {
  it('restore any replay to the bit, and it goes on as before', { tags: ['slow'] }, async () => {
    const action = fc.oneof(
      fc.record({ push: fc.integer({ min: 1, max: 9 }), stream: fc.nat(2) }),
      fc.record({ sample: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ renew: fc.nat(30), stream: fc.nat(2) }),
      fc.constant('save' as const),
    );
    const chunks = fc.integer({ min: 1, max: 9 });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 25 }), chunks, fc.boolean(), async (actions, chunk, online) => {
        const options = { length: 3, streams: 3, capacity: 24, online };
        const replay = createSequenceReplay(options);
        const generator = createGenerator(1);
        const directory = fresh();
        const totals = [0, 0, 0];
        for (const each of actions) {
          if (each === 'save') await saveReplay(directory, replay.state(), { chunk });
          else if ('push' in each) {
            const from = totals[each.stream];
            totals[each.stream] += each.push;
            replay.push(steps(from, totals[each.stream], each.stream), each.stream);
          } else if ('sample' in each) {
            if (replay.windows > 0) replay.sample(generator, each.sample);
          } else if (replay.size > 0) replaceState(replay, each.renew, -0, each.stream);
        }
        const state = replay.state();
        await saveReplay(directory, state, { chunk });
        expect(await loadReplay(directory)).toEqual(state);
        const again = await loaded(directory, options);
        for (const one of [replay, again]) fill(one, 3, 4, 500);
        expect(again.sample(createGenerator(5), 20)).toEqual(replay.sample(createGenerator(5), 20));
        expect(again.state()).toEqual(replay.state());
        rmSync(directory, { recursive: true });
      }),
      { numRuns: 60 },
    );
  });

  it('keep the bits of a NaN, and every dtype', async () => {
    const bits = Uint32Array.of(0x7fc0dead, 0xffc00001);
    const rows: NamedArrays = {
      float32: ndarray(new Float32Array(bits.buffer)),
      uint8: ndarray(Uint8Array.of(1, 255)),
      int8: ndarray(Int8Array.of(-1, 1)),
      uint16: ndarray(Uint16Array.of(1, 65535)),
      int16: ndarray(Int16Array.of(-1, 1)),
      uint32: ndarray(Uint32Array.of(1, 2 ** 32 - 1)),
      float64: ndarray(Float64Array.of(-0, Math.PI)),
      'obs/grid': ndarray(Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8), [2, 2, 2]),
    };
    const replay = createSequenceReplay({ length: 2, capacity: 2 });
    replay.push(rows);
    const directory = fresh();
    await saveReplay(directory, replay.state());
    const again = await loadReplay(directory);
    expect(again).toEqual(replay.state());
    const { buffer } = again as unknown as { buffer: { rows: NamedArrays } };
    expect(new Uint32Array(buffer.rows['float32'].data.slice().buffer)).toEqual(bits);
  });

  it('write what changed, keep the rest and remove what nothing names', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 20 });
    const directory = fresh();
    const save = () => saveReplay(directory, replay.state(), { chunk: 4 });
    fill(replay, 1, 10); // 0-3, 4-7, 8-9
    expect(await save()).toEqual({ written: 3, kept: 0, removed: 0 });
    expect(await save()).toEqual({ written: 0, kept: 3, removed: 0 });
    fill(replay, 1, 1, 10); // 8-10
    expect(await save()).toEqual({ written: 1, kept: 2, removed: 1 });
    replaceState(replay, 5, 7); // from now on states are in files of their own
    expect(await save()).toEqual({ written: 6, kept: 0, removed: 3 });
    replaceState(replay, 6, 8);
    expect(await save()).toEqual({ written: 1, kept: 5, removed: 1 });
    fill(replay, 1, 1, 11); // 8-11, both files
    expect(await save()).toEqual({ written: 2, kept: 4, removed: 2 });
    const own = ['line\nbreak', 'notes.txt', 'replay.json.old.tmp'];
    for (const name of own) writeFileSync(join(directory, name), 'mine');
    mkdirSync(join(directory, 'stream-0-step-99-0123456789abcdef.npz')); // in place of an evicted chunk
    for (const name of [
      'stream-0-step-0-0123456789abcdef.npz',
      'stream-3-step-4-0123456789abcdef.npz.11111111-2222-3333-4444-555555555555.tmp',
      'replay.json.11111111-2222-3333-4444-555555555555.tmp',
    ]) {
      writeFileSync(join(directory, name), 'left over');
    }
    expect(await save()).toEqual({ written: 0, kept: 6, removed: 4 });
    const others = readdirSync(directory).filter((name) => !name.startsWith('stream-'));
    expect(others.sort()).toEqual([...own, 'replay.json'].sort());
    rmSync(pathOf(directory, 8)); // one of the two
    expect(await save()).toEqual({ written: 1, kept: 5, removed: 0 });
    expect(await loadReplay(directory)).toEqual(replay.state());
  });

  it('keep the oldest chunk as it is while its steps make room one after the other', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 8 });
    const directory = fresh();
    const save = () => saveReplay(directory, replay.state(), { chunk: 4 });
    fill(replay, 1, 9); // held 1..8: 1-3, 4-7, 8
    expect(await save()).toEqual({ written: 3, kept: 0, removed: 0 });
    fill(replay, 1, 2, 9); // held 3..10: 3 of 1-3, 4-7, 8-10
    expect(await save()).toEqual({ written: 1, kept: 2, removed: 1 });
    expect(idsOf(await loadReplay(directory))).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    fill(replay, 1, 1, 11); // held 4..11
    expect(await save()).toEqual({ written: 1, kept: 1, removed: 2 });
    expect(idsOf(await loadReplay(directory))).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
    fill(replay, 1, 1, 12); // held 5..12: 5-7 of 4-7, 8-11, 12
    expect(await save()).toEqual({ written: 1, kept: 2, removed: 0 });
    replaceState(replay, 6, 3); // 5-7 in two files, and so the others
    expect(await save()).toEqual({ written: 6, kept: 0, removed: 3 });
    replaceState(replay, 7, 3);
    fill(replay, 1, 1, 13); // held 6..13: 6-7 in the ids of 5-7 and in states of its own, 8-11, 12-13
    expect(await save()).toEqual({ written: 3, kept: 3, removed: 3 });
    expect(await loadReplay(directory)).toEqual(replay.state());
    rmSync(pathOf(directory, 5));
    expect(await save()).toEqual({ written: 1, kept: 5, removed: 0 });
    expect(await loadReplay(directory)).toEqual(replay.state());
  });

  it('write everything of another replay, of other chunks, and of nothing', async () => {
    const directory = fresh();
    const [replay, other] = [0, 1].map(() => createSequenceReplay({ length: 2, capacity: 8 }));
    await saveReplay(directory, replay.state());
    expect(await loadReplay(directory)).toEqual(replay.state());
    replay.push(steps(0, 11));
    other.push(steps(100, 112)); // the same numbers of steps, but other ids
    await saveReplay(directory, replay.state(), { chunk: 4 });
    expect(await saveReplay(directory, other.state(), { chunk: 4 })).toEqual({ written: 2, kept: 0, removed: 3 });
    expect(idsOf(await loadReplay(directory))).toEqual([104, 105, 106, 107, 108, 109, 110, 111]);
    expect(await saveReplay(directory, other.state())).toEqual({ written: 1, kept: 0, removed: 2 });
    expect(await loadReplay(directory)).toEqual(other.state());
  });

  it('load the newest steps that fit another capacity', async () => {
    const replay = createSequenceReplay({ length: 2, streams: 2, capacity: 20 });
    fill(replay, 2, 13); // held 3..12 of both; 4-5, 6-7, 8-9 and 10-11 wait
    const directory = fresh();
    await saveReplay(directory, replay.state(), { chunk: 4 });
    const [small, large] = [11, 200].map((capacity) => ({ length: 2, streams: 2, capacity }));
    const lesser = createSequenceReplay(small);
    lesser.restore(await loadReplay(directory, { capacity: 11 }));
    expect(idsOf(lesser.state())).toEqual([8, 9, 10, 11, 12, 1008, 1009, 1010, 1011, 1012]);
    expect(lesser.waiting).toBe(4);
    const greater = createSequenceReplay(large);
    greater.restore(await loadReplay(directory, { capacity: 200 }));
    expect([greater.size, greater.windows, greater.waiting]).toEqual([20, 18, 8]);
    fill(greater, 2, 7, 13);
    expect(idsOf(greater.state()).slice(0, 17)).toEqual(Array.from({ length: 17 }, (_, i) => 3 + i));
    const { rows, steps: firsts, streams, fresh: queued } = greater.sample(createGenerator(1), 16);
    expect(queued).toBe(16);
    expect([...rows['id'].data].filter((_, i) => i % 2 === 0)).toEqual(
      [...firsts].map((f, b) => 1000 * streams[b] + f),
    );
    expect([...firsts].filter((_, b) => streams[b] === 0)).toEqual([4, 6, 8, 10, 12, 14, 16, 18]);
    const [again] = [createSequenceReplay(large)];
    await saveReplay(directory, greater.state(), { chunk: 4 });
    again.restore(await loadReplay(directory));
    expect(again.state()).toEqual(greater.state());
    await expect(loadReplay(directory, { capacity: 1 })).rejects.toThrow(/a capacity of at least 2, one step for each/);
  });

  it('take a state that says nothing of windows, renewed fields and first steps', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 8 });
    replay.push(steps(0, 11));
    const { buffer, queue } = replay.state() as unknown as { buffer: SavedState; queue: Float64Array };
    const { begun: _, ...rest } = buffer;
    const directory = fresh();
    await saveReplay(directory, { buffer: rest, queue });
    const again = await loaded(directory, { length: 2, capacity: 8 });
    expect(again.state()).toEqual(replay.state());
    again.restore({ buffer: rest, queue });
    expect(again.state()).toEqual(replay.state());
  });

  it('let no window wait that has another length, or where nothing waits', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 20 });
    replay.push(steps(0, 9));
    const directory = fresh();
    await saveReplay(directory, replay.state());
    expect((await loaded(directory, { length: 2, capacity: 20 })).waiting).toBe(4);
    expect((await loaded(directory, { length: 3, capacity: 20 })).waiting).toBe(0);
    expect((await loaded(directory, { length: 2, capacity: 20, online: false })).waiting).toBe(0);
  });

  it('refuse a chunk that is damaged, cut or missing, by its name, or leave it out', async () => {
    const replay = createSequenceReplay({ length: 2, streams: 2, capacity: 60 });
    fill(replay, 2, 22); // chunks at 0, 4, 8, 12, 16, 20
    const directory = fresh();
    await saveReplay(directory, replay.state(), { chunk: 4 });
    const path = pathOf(directory, 4);
    const whole = readFileSync(path);
    const flipped = Uint8Array.from(whole);
    flipped[whole.length >> 1] ^= 1;
    writeFileSync(path, flipped);
    await expect(loadReplay(directory)).rejects.toThrow(/stream-0-step-4-.*as it was saved, got another checksum/);
    truncateSync(path, whole.length - 5);
    await expect(loadReplay(directory)).rejects.toThrow(/stream-0-step-4-.*got \d+ bytes without the end record/);
    copyFileSync(pathOf(directory, 8), path); // whole, but another one
    await expect(loadReplay(directory)).rejects.toThrow(/stream-0-step-4-.*as it was saved, got other contents/);
    rmSync(path);
    await expect(loadReplay(directory)).rejects.toThrow(/stream-0-step-4-.*got ENOENT: no such file/);
    const told: CoplayError[] = [];
    const onDamaged = (error: CoplayError) => void told.push(error);
    const rest = createSequenceReplay({ length: 2, streams: 2, capacity: 60 });
    rest.restore(await loadReplay(directory, { onDamaged }));
    const second = Array.from({ length: 22 }, (_, i) => 1000 + i);
    expect(idsOf(rest.state())).toEqual([...Array.from({ length: 14 }, (_, i) => 8 + i), ...second]);
    expect(told.map(({ complaint }) => complaint.got)).toEqual([expect.stringContaining('no such file')]);
    expect(told[0]).toBeInstanceOf(CoplayError);
    expect(rest.waiting).toBe(7 + 11);
    // Without the chunk at 16 the longest runs are 0-3 and 8-15; the stream goes on after the second one.
    rmSync(pathOf(directory, 16));
    rest.restore(await loadReplay(directory, { onDamaged }));
    rest.push(steps(16, 19)); // 16-17 waited already where it was saved; here it's filled again
    expect(idsOf(rest.state())).toEqual([...Array.from({ length: 11 }, (_, i) => 8 + i), ...second]);
    expect([rest.waiting, rest.windows]).toEqual([5 + 11, 10 + 21]);
    // A replay that begins late is saved and loaded like any other.
    await saveReplay(directory, rest.state(), { chunk: 4 });
    expect(await loadReplay(directory)).toEqual(rest.state());
    for (const name of chunkNames(directory)) rmSync(join(directory, name));
    rest.restore(await loadReplay(directory, { onDamaged }));
    expect([rest.size, rest.windows, rest.waiting]).toEqual([0, 0, 0]);
  });

  it('write a chunk again of which a part is missing, from what is held', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 20 });
    replay.push(steps(0, 9));
    const directory = fresh();
    await saveReplay(directory, replay.state(), { chunk: 4 });
    truncateSync(pathOf(directory, 4), 10);
    expect(await saveReplay(directory, replay.state(), { chunk: 4 })).toEqual({ written: 1, kept: 2, removed: 0 });
    expect(await loadReplay(directory)).toEqual(replay.state());
  });

  it('wait for each other where one directory has two names', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 20 });
    const directory = fresh();
    mkdirSync(directory, { recursive: true });
    const link = `${directory}-link`;
    symlinkSync(directory, link);
    const saves: Promise<unknown>[] = [];
    for (let n = 0; n < 10; n++) {
      replay.push(steps(n, n + 1));
      saves.push(saveReplay(n % 2 === 0 ? directory : link, replay.state(), { chunk: 2 }));
    }
    await Promise.all(saves);
    expect(await loadReplay(link)).toEqual(replay.state());
  });

  it('refuse a field that JavaScript would lose', () => {
    const rows = JSON.parse('{"__proto__": 0}') as Record<string, unknown>;
    Object.defineProperty(rows, '__proto__', { value: { data: new Float32Array(1), shape: [1] }, enumerable: true });
    const replay = createSequenceReplay({ length: 2, capacity: 20 });
    expect(() => replay.push(rows as never)).toThrow(/__proto__/);
  });

  it('load the newest of runs of a length', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 20 });
    replay.push(steps(0, 12));
    const directory = fresh();
    await saveReplay(directory, replay.state(), { chunk: 4 });
    rmSync(pathOf(directory, 4));
    expect(idsOf(await loadReplay(directory, { onDamaged: () => {} }))).toEqual([8, 9, 10, 11]);
  });

  it('refuse an index that is missing, damaged, newer or of something else, and keep the files then', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 20 });
    replay.push(steps(0, 9));
    const directory = fresh();
    await expect(loadReplay(directory)).rejects.toThrow(/a replay in .*, got no replay\.json/);
    await saveReplay(directory, replay.state());
    const path = join(directory, 'replay.json');
    const text = readFileSync(path, 'utf8');
    const refused: [string, RegExp][] = [
      [text.replace('"pushed":[9]', '"pushed":[8]'), /another checksum/],
      [text.replace('"version":1', '"version":2'), /got version 2\. Update @coplay\/buffers/],
      [text.replace('coplay-replay', 'other'), /the format "other"/],
      [text.slice(0, 40), /no JSON/],
      ['null', /the format undefined/],
    ];
    for (const [wrong, message] of refused) {
      writeFileSync(path, wrong);
      await expect(loadReplay(directory)).rejects.toThrow(message);
      await expect(saveReplay(directory, replay.state())).rejects.toThrow(message);
      expect(chunkNames(directory)).toHaveLength(1);
    }
    writeFileSync(path, text);
    expect(await loadReplay(directory)).toEqual(replay.state());
  });

  it('refuse what is no state, unknown options, and a place where nothing can be written', async () => {
    const replay = createSequenceReplay({ length: 2, capacity: 20 });
    await expect(saveReplay(fresh(), {})).rejects.toThrow(
      /the state of a sequence replay, got \{\}.*replay\.state\(\)/,
    );
    await expect(saveReplay(fresh(), null as never)).rejects.toThrow(/the state of a sequence replay, got null/);
    await expect(saveReplay(fresh(), replay.state(), { chunk: 0 })).rejects.toThrow(/saveReplay: option chunk/);
    await expect(loadReplay(fresh(), { capacty: 5 } as never)).rejects.toThrow(/loadReplay.*capacty/);
    const file = fresh();
    writeFileSync(file, '');
    await expect(saveReplay(file, replay.state())).rejects.toThrow(/to write to .*, got /);
    await expect(loadReplay(file)).rejects.toThrow(/to read .*replay\.json, got /);
  });
});
