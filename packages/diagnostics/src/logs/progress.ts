import { checkOptions, type Log, type LogEntry, type Metrics, type RunInfo } from '@coplay/core';
import { checkText } from '@coplay/core/checks';
import { z } from 'zod';
import { checkEntry, checkStart, isFunction, notStarted } from './options';
import { fitted, formatDuration, grouped } from './progress-text';

/** The part of a Node stream that {@link progress} uses. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** Width in characters. */
  readonly columns?: number | undefined;
}

/** Options of {@link progress}. */
export interface ProgressOptions {
  /** Where the line goes. Default: process.stderr */
  readonly stream?: ProgressStream;
  /** Milliseconds since any moment. Default: performance.now */
  readonly clock?: () => number;
  /** Seconds between lines where the stream is no terminal; positive. Default 10 */
  readonly interval?: number;
}

const schema = z
  .object({
    stream: z
      .custom<ProgressStream>((stream) => isFunction((stream as ProgressStream)?.write), 'a stream with write(text)')
      .default(() => process.stderr),
    clock: z
      .custom<() => number>(isFunction, 'a function that returns milliseconds')
      .default(() => () => performance.now()),
    interval: z.number().positive().default(10),
  })
  .strict();

/** Milliseconds between two pictures of the live line. */
const FRAME = 100;

/**
 * Shows how a run is doing: steps, steps per second, time left, and the mean return over agents with each agent's own
 * in brackets, as `64,000/500,000 steps  3,512/s  2:04 left  return 1.02 (1.00 1.05 0.99 1.02)`.
 *
 * In a terminal it is one line that renews itself; elsewhere a plain line every `interval` seconds, and one for the
 * first entry and the last. Reads the metrics `episode/return_mean`, `episode/return/<agent id>` and
 * `time/steps_per_second`; where the last is missing the rate is that since the start. Returns stay on the line until
 * newer ones come. `imagination waits` stands at the end while `imagined/is_open` is 0 for all HOP+ agents.
 */
export function progress(options: ProgressOptions = {}): Log {
  const { stream, clock, interval } = checkOptions('progress', schema, options);
  const period = stream.isTTY ? FRAME : interval * 1000;
  let run: (RunInfo & { readonly time: number }) | undefined;
  let pending: LogEntry | undefined;
  let seen: Metrics = {};
  let shownAt = Number.NEGATIVE_INFINITY;

  const show = (entry: LogEntry, info: RunInfo, seconds: number) => {
    const parts = describe(entry.envSteps, info, seen, seconds);
    if (stream.isTTY) stream.write(`\r${fitted(parts.join('  '), (stream.columns || 80) - 1)}\x1b[K`);
    else stream.write(`${info.name}  ${parts.join('  ')}\n`);
  };
  const flush = (now: number) => {
    if (pending && run) show(pending, run, (now - run.time) / 1000);
    pending = undefined;
    shownAt = now;
  };
  return {
    start(info) {
      checkStart('progress', info);
      checkText('progress.start', 'name', info.name);
      run = { ...info, time: clock() };
      shownAt = Number.NEGATIVE_INFINITY;
      seen = {};
      stream.write(`${headline(info)}\n`);
    },
    write(given) {
      if (!run) notStarted('progress');
      const entry = checkEntry('progress', given);
      seen = { ...seen, ...finiteOnly(entry.metrics) };
      pending = entry;
      const now = clock();
      if (now - shownAt >= period) flush(now);
    },
    close() {
      if (pending) flush(clock());
      if (run && stream.isTTY) stream.write('\n');
      run = undefined;
    },
  };
}

function headline({ name, envSteps, startedAt }: RunInfo): string {
  const goal = `${grouped(envSteps)} environment steps`;
  return startedAt === 0 ? `${name}: ${goal}` : `${name}: goes on at step ${grouped(startedAt)} of ${goal}`;
}

/** An update in which no episode ended reports no return, or NaN: the last known one stays. */
function finiteOnly(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));
}

/** The parts of the line. @param seconds since the start of this session */
function describe(envSteps: number, info: RunInfo, seen: Metrics, seconds: number): string[] {
  const rate = seconds > 0 ? (envSteps - info.startedAt) / seconds : Number.NaN;
  const left = Math.max(0, info.envSteps - envSteps) / rate;
  const parts = [`${grouped(envSteps)}/${grouped(info.envSteps)} steps`];
  const shownRate = seen['time/steps_per_second'] ?? rate;
  if (Number.isFinite(shownRate)) parts.push(`${grouped(Math.round(shownRate))}/s`);
  if (Number.isFinite(left)) parts.push(`${formatDuration(left)} left`);
  return [...parts, ...describeReturns(seen), ...describeImagination(seen)];
}

function describeReturns(seen: Metrics): string[] {
  const mean = seen['episode/return_mean'];
  const each = Object.entries(seen).filter(([name]) => name.startsWith('episode/return/'));
  const brackets = each.length > 0 ? ` (${each.map(([, value]) => value.toFixed(2)).join(' ')})` : '';
  return mean === undefined ? [] : [`return ${mean.toFixed(2)}${brackets}`];
}

function describeImagination(seen: Metrics): string[] {
  const gates = Object.entries(seen).filter(([name]) => name.endsWith('imagined/is_open'));
  return gates.length > 0 && gates.every(([, value]) => value === 0) ? ['imagination waits'] : [];
}
