import { describe, expect, it } from 'vitest';
import { gatherCalls } from './gather-calls';

/** Answers each call with ten times its number, and keeps what it was asked, batch by batch. */
function recorded() {
  const batches: number[][] = [];
  const call = gatherCalls<number, number>(async (calls) => {
    batches.push([...calls]);
    return calls.map((value) => 10 * value);
  });
  return { batches, call };
}

/** A later turn of the event loop: promises that can go on have done so, and batches that can be answered are. */
async function turns(count = 3): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

describe('gatherCalls', () => {
  it('answers calls of one turn together, each with its own result', async () => {
    const { batches, call } = recorded();
    expect(await Promise.all([call(3), call(1), call(2)])).toEqual([30, 10, 20]);
    expect(batches).toEqual([[3, 1, 2]]);
  });

  it('lets calls meet that are made after other numbers of promises, since these end no turn', async () => {
    const { batches, call } = recorded();
    const after = async (promises: number) => {
      for (let i = 0; i < promises; i++) await undefined;
      return call(promises);
    };
    expect(await Promise.all([after(0), after(7), after(40)])).toEqual([0, 70, 400]);
    expect(batches).toEqual([[0, 7, 40]]);
  });

  it('keeps callers in lockstep that do different things between their calls', async () => {
    const { batches, call } = recorded();
    const caller = async (start: number, promises: number) => {
      for (let round = 0; round < 3; round++) {
        await call(start + round);
        for (let i = 0; i < promises; i++) await undefined;
      }
    };
    await Promise.all([caller(0, 0), caller(100, 5), caller(200, 20)]);
    expect(batches.map((batch) => batch.toSorted((a, b) => a - b))).toEqual([
      [0, 100, 200],
      [1, 101, 201],
      [2, 102, 202],
    ]);
  });

  it('leaves a call of a later turn to a batch of its own', async () => {
    const { batches, call } = recorded();
    const first = call(1);
    await turns();
    expect(await Promise.all([first, call(2)])).toEqual([10, 20]);
    expect(batches).toEqual([[1], [2]]);
  });

  it('answers one batch at a time, in order', async () => {
    const batches: number[][] = [];
    const finish: (() => void)[] = [];
    const call = gatherCalls<number, number>((calls) => {
      batches.push([...calls]);
      return new Promise((resolve) => finish.push(() => resolve(calls)));
    });
    const settled: number[] = [];
    const noted = (value: number) => call(value).then((result) => settled.push(result));
    const first = noted(1);
    await turns();
    const [second, third] = [noted(2), noted(3)];
    await turns();
    const fourth = noted(4);
    await turns();
    expect(batches).toEqual([[1]]); // the others wait
    finish[0]();
    await first;
    await turns();
    expect(batches).toEqual([[1], [2, 3]]);
    finish[1]();
    await Promise.all([second, third]);
    await turns();
    expect(batches).toEqual([[1], [2, 3], [4]]);
    finish[2]();
    await fourth;
    expect(settled).toEqual([1, 2, 3, 4]);
  });

  it('gives an error to all callers of its batch, and to no other', async () => {
    const call = gatherCalls<number, number>(async (calls) => {
      if (calls.includes(13)) throw new Error(`not ${calls.join(' with ')}`);
      return calls;
    });
    const outcomes = Promise.allSettled([call(1), call(13)]);
    await turns();
    expect(await call(2)).toBe(2);
    expect((await outcomes).map((outcome) => outcome.status === 'rejected' && String(outcome.reason))).toEqual([
      'Error: not 1 with 13',
      'Error: not 1 with 13',
    ]);
    expect(await call(3)).toBe(3);
  });

  it('goes on after one that fails before it returns a promise, though others wait', async () => {
    let count = 0;
    const call = gatherCalls<number, number>((calls) => {
      if (count++ === 0) throw new Error('at once');
      return Promise.resolve(calls);
    });
    const first = call(1).catch((error: Error) => error.message);
    await turns(1);
    const second = call(2);
    expect(await first).toBe('at once');
    expect(await second).toBe(2);
  });
});
