import { describe, expect, it } from 'vitest';
import { gatherCalls } from './stacked/gather-calls';
import { inTurn, inTurnElsewhere } from './turns';

/** A job that ends when it's told to. */
function openJob() {
  let end: () => void = () => undefined;
  let hasBegun = false;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const job = () => {
    hasBegun = true;
    return ended;
  };
  return { job, end: () => end(), hasBegun: () => hasBegun };
}

const loopTurns = async (count = 3) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('jobs in other threads', () => {
  it('overlap, and are answered in the order in which they were asked for', async () => {
    const [slow, quick] = [openJob(), openJob()];
    const answers: string[] = [];
    const all = [slow, quick].map(async ({ job }, i) => {
      await inTurnElsewhere([{}], job);
      answers.push(['slow', 'quick'][i]);
    });
    await loopTurns();
    expect([slow.hasBegun(), quick.hasBegun()]).toEqual([true, true]);
    quick.end();
    await loopTurns();
    expect(answers).toEqual([]);
    slow.end();
    await Promise.all(all);
    expect(answers).toEqual(['slow', 'quick']);
  });

  it('wait for others that use the same, and for what runs on this thread; that waits for all', async () => {
    const variables = {};
    const jobs = [openJob(), openJob(), openJob(), openJob()];
    const [first, second, here, last] = jobs;
    const all = [
      inTurnElsewhere([variables], first.job),
      inTurnElsewhere([variables], second.job),
      inTurn(here.job),
      inTurnElsewhere([{}], last.job),
    ];
    const begun = async () => {
      await loopTurns();
      return jobs.map((one) => one.hasBegun());
    };
    expect(await begun()).toEqual([true, false, false, false]);
    first.end();
    expect(await begun()).toEqual([true, true, false, false]);
    second.end();
    expect(await begun()).toEqual([true, true, true, false]);
    here.end();
    expect(await begun()).toEqual([true, true, true, true]);
    last.end();
    await Promise.all(all);
  });

  it('leave the others alone when they fail', async () => {
    const failing = inTurnElsewhere([{}], () => Promise.reject(new Error('no memory')));
    const next = inTurnElsewhere([{}], async () => 1);
    await expect(failing).rejects.toThrow('no memory');
    expect([await next, await inTurn(async () => 2)]).toEqual([1, 2]);
  });
});

describe('calls of two callers, one of which waits for another thread', () => {
  /** Which calls are computed together. `answer` is the thread's. */
  async function batchesOf(answer: (resolve: () => void) => void): Promise<string[][]> {
    const batches: string[][] = [];
    const ask = gatherCalls<string, string>(async (calls) => {
      batches.push([...calls]);
      return calls;
    });
    const other = async () => {
      await inTurn(async () => undefined);
      await ask('at once');
    };
    const waiting = async () => {
      await inTurnElsewhere([{}], () => new Promise<void>(answer));
      await ask('after the thread');
    };
    await Promise.all([other(), waiting()]);
    return batches;
  }

  it('meet in the same batches, however quick the thread is', async () => {
    const quick = await batchesOf((resolve) => resolve());
    const slow = await batchesOf((resolve) => setTimeout(resolve, 20));
    expect(quick).toEqual([['at once'], ['after the thread']]);
    expect(slow).toEqual(quick);
  });
});
