import { progress } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';
import { runInfo } from './helpers';

/** A stream that remembers, and a clock that is set by hand. */
function stage(stream: { isTTY?: boolean; columns?: number } = {}) {
  const written: string[] = [];
  let now = 0;
  const log = progress({ stream: { ...stream, write: (text) => written.push(text) }, clock: () => now });
  const at = (seconds: number, envSteps: number, metrics: Record<string, number> = {}) => {
    now = seconds * 1000;
    log.write({ envSteps, update: Math.ceil(envSteps / 10), metrics });
  };
  return { written, log, at, setTime: (seconds: number) => (now = seconds * 1000) };
}

const returns = (values: number[]) => ({
  'episode/return_mean': values.reduce((sum, value) => sum + value, 0) / values.length,
  ...Object.fromEntries(values.map((value, i) => [`episode/return/agent_${i}`, value])),
});

describe('progress without a terminal', () => {
  it('writes plain lines: the first, one every 10 seconds, the last', () => {
    const { written, log, at } = stage();
    log.start({ ...runInfo(), envSteps: 500_000 });
    at(1, 4_000, returns([10, 0, 0, 0]));
    at(5, 20_000);
    at(10.9, 43_600);
    at(11, 44_000);
    at(12, 48_000, returns([1, 1, 2, 0]));
    log.close();
    expect(written).toEqual([
      'stag-hunt: 500,000 environment steps\n',
      // 4,000 steps in 1 s; 496,000 left take 124 s. Every agent's own mean, and the one mean over agents.
      'stag-hunt  4,000/500,000 steps  4,000/s  2:04 left  return 2.50 (10.00 0.00 0.00 0.00)\n',
      'stag-hunt  44,000/500,000 steps  4,000/s  1:54 left  return 2.50 (10.00 0.00 0.00 0.00)\n',
      'stag-hunt  48,000/500,000 steps  4,000/s  1:53 left  return 1.00 (1.00 1.00 2.00 0.00)\n',
    ]);
    expect(written.join('')).not.toContain('\r');
    expect(written.join('')).not.toContain('\x1b');
  });

  it('counts a run that goes on from where it goes on', () => {
    const { written, log, at } = stage();
    log.start(runInfo(600));
    at(2, 700);
    log.close();
    // 100 steps in 2 s, 300 left.
    expect(written).toEqual([
      'stag-hunt: goes on at step 600 of 1,000 environment steps\n',
      'stag-hunt  700/1,000 steps  50/s  0:06 left\n',
    ]);
  });

  it('says that imagination waits, until one of the learners imagines', () => {
    const { written, log, at } = stage();
    const gates = (first: number) => ({ 'agent_0/imagined/is_open': first, 'agent_1/imagined/is_open': 0 });
    log.start({ ...runInfo(), envSteps: 300 });
    at(10, 100, gates(0));
    at(20, 200, gates(1));
    log.close();
    expect(written.slice(1)).toEqual([
      'stag-hunt  100/300 steps  10/s  0:20 left  imagination waits\n',
      'stag-hunt  200/300 steps  10/s  0:10 left\n',
    ]);
  });

  it('tells the truth when a rollout overshoots the budget', () => {
    const { written, log, at } = stage();
    log.start({ ...runInfo(), envSteps: 100 });
    at(1, 2048, { 'time/steps_per_second': 3512.4 });
    log.close();
    expect(written.at(-1)).toBe('stag-hunt  2,048/100 steps  3,512/s  0:00 left\n');
  });

  it('says nothing it does not know: no time has passed, no episode has ended', () => {
    const { written, log, at } = stage();
    log.start(runInfo());
    at(0, 100, { 'episode/return_mean': Number.NaN });
    log.close();
    // 100 steps in 0 s: no rate, so no time left either.
    expect(written.at(-1)).toBe('stag-hunt  100/1,000 steps\n');
  });

  it('takes hours', () => {
    const { written, log, at } = stage();
    log.start({ ...runInfo(), envSteps: 10_000_001 });
    at(1, 1000);
    log.close();
    // 9,999,001 steps at 1,000/s: 9999.001 s, rounded up to 10,000 s = 2 h 46 min 40 s
    expect(written.at(-1)).toContain('2:46:40 left');
  });
});

describe('progress in a terminal', () => {
  it('renews one line, ten times a second at most, and ends it', () => {
    const { written, log, at } = stage({ isTTY: true, columns: 200 });
    log.start(runInfo());
    at(1, 100);
    at(1.05, 200);
    at(1.2, 300);
    at(1.21, 400);
    log.close();
    const lines = written.slice(1);
    expect(lines).toHaveLength(4);
    const clearToEnd = '\x1b[K';
    expect(lines.slice(0, 3).map((line) => line.split('/')[0])).toEqual(['\r100', '\r300', '\r400']);
    expect(lines.slice(0, 3).every((line) => line.endsWith(clearToEnd))).toBe(true);
    expect(lines.at(-1)).toBe('\n');
  });

  it('never wraps: a line is cut to the width', () => {
    for (const columns of [10, 40, 80]) {
      const { written, log, at } = stage({ isTTY: true, columns });
      log.start(runInfo());
      at(1, 100, returns([1, 2, 3, 4, 5, 6, 7, 8]));
      log.close();
      const line = written[1].replace('\r', '').replace('\x1b[K', '');
      expect(line.length).toBe(Math.min(columns - 1, line.length));
      expect(line.startsWith('100/1,000'.slice(0, columns - 2))).toBe(true);
    }
  });
});

describe('progress', () => {
  it('refuses wrong options and entries before the start', () => {
    expect(() => progress({ interval: 0 })).toThrow(/progress: option interval/);
    expect(() => progress({ stream: {} as never })).toThrow(/progress: option stream.*write/);
    expect(() => progress({ every: 3 } as object)).toThrow(/unknown option "every".*interval/);
    expect(() => progress().write({ envSteps: 0, update: 0, metrics: {} })).toThrow(/progress\.write.*Call start/);
  });
});
