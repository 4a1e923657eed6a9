import { describe, expect, it } from 'vitest';
import { findPython, medianOrNever, runPython, timeInTurns } from '../../bench/harness';

describe('timeInTurns', () => {
  it('lets contestants take turns, after one run each that does not count', async () => {
    const order: string[] = [];
    const contestant = (name: string) => ({ name, units: 1, run: () => void order.push(name) });
    await timeInTurns([contestant('a'), contestant('b'), contestant('c')], 2);
    expect(order.join('')).toBe('abcabccba');
  });

  it('takes the median, also if single runs are disturbed', async () => {
    const waits = [0, 5, 80, 5, 5, 5];
    let turn = 0;
    const sleep = () => new Promise<void>((resolve) => setTimeout(resolve, waits[turn++]));
    const [timing] = await timeInTurns([{ name: 'sleeper', units: 100, run: sleep }], 5);
    expect(timing.samples).toHaveLength(5);
    // The middle of 5 ms five times, one of them disturbed; a timer may be late on a busy machine, never early by more
    // than 1 ms.
    expect(timing.milliseconds).toBeGreaterThanOrEqual(4);
    expect(timing.milliseconds).toBeLessThan(60);
    expect(timing.perSecond).toBeCloseTo(100_000 / timing.milliseconds, 6);
    expect(timing.perSecondQuartiles[0]).toBeLessThanOrEqual(timing.perSecond);
    expect(timing.perSecondQuartiles[1]).toBeGreaterThanOrEqual(timing.perSecond);
  });
});

describe('medianOrNever', () => {
  it('counts "never" as longer than all others', () => {
    expect(medianOrNever([3, 1, 2])).toBe(2);
    expect(medianOrNever([3, null, 1])).toBe(3);
    expect(medianOrNever([null, 1, null])).toBeNull();
    expect(medianOrNever([1, 3])).toBe(2);
    expect(medianOrNever([1, null])).toBeNull();
    expect(medianOrNever([])).toBeNull();
  });
});

describe('findPython', () => {
  it('says what is missing', { tags: ['slow'] }, () => {
    const found = findPython(['no_such_module_anywhere']);
    expect('missing' in found && found.missing).toMatch(/no_such_module_anywhere|no Python/);
  });

  it.skipIf('missing' in findPython())('finds one that runs', { tags: ['slow'] }, async () => {
    const python = findPython(['json']);
    if ('missing' in python) throw new Error(python.missing);
    await expect(runPython(python.command, ['-c', 'print(6 * 7)'])).resolves.toBe(
      `42${process.platform === 'win32' ? '\r' : ''}\n`,
    );
    await expect(runPython(python.command, ['-c', 'raise SystemExit(3)'])).rejects.toThrow(/ended with status 3/);
  });
});
