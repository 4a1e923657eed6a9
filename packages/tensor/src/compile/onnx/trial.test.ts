import { describe, expect, it } from 'vitest';
import { fastestThreads } from './trial';

/** Runners on a machine where a run with n threads takes `times[n]`; it counts what happens. */
function machine(times: Readonly<Record<number, number>>) {
  let now = 0;
  const open: number[] = [];
  const runs: Record<number, number> = {};
  return {
    open,
    runs,
    clock: () => now,
    make: async (threads: number) => {
      open.push(threads);
      runs[threads] = 0;
      return {
        async run() {
          runs[threads]++;
          now += times[threads];
        },
        async release() {
          open.splice(open.indexOf(threads), 1);
        },
      };
    },
  };
}

describe('fastestThreads', () => {
  it('stays at 1 where there is one core, without a run', async () => {
    const { make, clock, runs, open } = machine({ 1: 1 });
    expect((await fastestThreads(make, { cores: 1, clock })).threads).toBe(1);
    expect(runs).toEqual({ 1: 0 });
    expect(open).toEqual([1]);
  });

  it.each([
    ['all cores if each doubling helps', 8, { 1: 8, 2: 4.5, 4: 2.5, 8: 1.5 }, 8],
    ['an odd number of cores too', 6, { 1: 8, 2: 4.5, 4: 2.5, 6: 2 }, 6],
    ['the last that helped', 8, { 1: 8, 2: 4.5, 4: 4.4, 8: 1 }, 2],
    ['1 where a second thread gains less than a tenth', 2, { 1: 1, 2: 0.95 }, 1],
    ['2 where it gains more', 2, { 1: 1, 2: 0.85 }, 2],
  ])('takes %s, and keeps only the winner open', async (_, cores, times, best) => {
    const { make, clock, open } = machine(times);
    expect((await fastestThreads(make, { cores, clock })).threads).toBe(best);
    expect(open).toEqual([best]);
  });

  it('makes few runs where a run takes long: one to warm up and three that count', async () => {
    const { make, clock, runs } = machine({ 1: 1000, 2: 900 });
    await fastestThreads(make, { cores: 2, clock });
    expect(runs).toEqual({ 1: 4, 2: 4 });
  });

  it('keeps nothing open when a run fails', async () => {
    const { make, clock, open } = machine({ 1: 1, 2: 1 });
    const failing = async (threads: number) => ({
      ...(await make(threads)),
      run: () => Promise.reject(new Error('no memory')),
    });
    await expect(fastestThreads(failing, { cores: 2, clock })).rejects.toThrow('no memory');
    expect(open).toEqual([]);
  });
});
