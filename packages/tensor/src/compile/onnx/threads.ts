import { fail, show } from '@coplay/core';
import { oneForAllCopies } from '@coplay/core/checks';
import { coreCount, environment } from '../environment';

/**
 * The number of threads of a graph. A whole number from 1 applies to all graphs. `fixed` computes the number from the
 * sizes in the graph and the number of cores, so that a run repeats to the bit on one machine. `trial` takes the number
 * that was fastest in a short timed trial. On a busy machine that may be another number, which changes the rounding of
 * sums in large graphs.
 */
export type ThreadSetting = number | 'fixed' | 'trial';

/**
 * The threads that graphs were given, by function and graph: `{ 'ppo/update#1f0c2a9b': 2 }`; `ppo/update#` is a trial's
 * result for a function. JSON.
 */
export type ThreadChoices = Readonly<Record<string, number>>;

/** More than any graph gains by; beyond some hundreds a system refuses to make them. */
export const MAX_THREADS = 256;

const VARIABLE = 'COPLAY_THREADS';

/** The settings for all functions of this process, also for functions of another copy of this package. */
const chosen = oneForAllCopies('@coplay/tensor/threads@1', () => ({
  /** What {@link useThreads} was given. */
  setting: undefined as ThreadSetting | undefined,
  /** What graphs were given so far. */
  choices: new Map<string, number>(),
  /** What {@link restoreThreadChoices} was given. */
  restored: new Map<string, number>(),
  changes: 0,
}));

/**
 * How many threads a graph may use inside an operation, for all functions that don't say so themselves. A trial's
 * result for a function is remembered; a call without a number forgets it, and restored results too.
 *
 * @param threads  a whole number from 1 to 256, `fixed` or `trial`. Default: in Node the value of the environment
 *                 variable `COPLAY_THREADS`; where it isn't set, `fixed`
 */
export function useThreads(threads?: ThreadSetting): void {
  chosen.setting = threads === undefined ? undefined : checkThreads('useThreads', threads);
  if (typeof chosen.setting !== 'number') {
    chosen.choices = new Map();
    chosen.restored = new Map();
  }
  chosen.changes++;
}

/** What decides how many threads graphs get. */
export interface ThreadInfo {
  /** Of functions that don't say it themselves. */
  readonly threads: ThreadSetting;
  /** Processors that this process may use: what `fixed` goes by. */
  readonly cores: number;
}

/** How the number of threads is chosen in this process: to be kept with a run, as `selfPlay` does in `config.json`. */
export async function threadInfo(): Promise<ThreadInfo> {
  return { threads: threadSetting(), cores: await coreCount() };
}

function threadSetting(): ThreadSetting {
  return chosen.setting ?? fromEnvironment() ?? 'fixed';
}

/** Each graph's number of threads so far in this process, to be kept with a run. */
export function threadChoices(): ThreadChoices {
  return Object.fromEntries([...chosen.choices].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Takes over what another process chose, so that a resumed run computes as before; graphs that it doesn't name keep
 * theirs. A number given by {@link useThreads}, by `COPLAY_THREADS` or by the function itself goes before it.
 *
 * @throws CoplayError if it's not what {@link threadChoices} returned; nothing is taken over then
 */
export function restoreThreadChoices(saved: ThreadChoices): void {
  checkThreadChoices('restoreThreadChoices', saved);
  const entries = Object.entries(saved);
  for (const [key, threads] of entries) {
    chosen.choices.set(key, threads);
    chosen.restored.set(key, threads);
  }
  chosen.changes++;
}

/**
 * Refuses anything but what {@link threadChoices} returned.
 *
 * @param where  for the message: the function that was given it
 */
export function checkThreadChoices(where: string, saved: unknown): asserts saved is ThreadChoices {
  const remedy = 'Give what threadChoices() returned.';
  if (typeof saved !== 'object' || saved === null || Array.isArray(saved) || ArrayBuffer.isView(saved)) {
    fail(where, 'a record of numbers of threads', show(saved), remedy);
  }
  for (const [key, threads] of Object.entries(saved)) {
    if (!isThreads(threads)) fail(where, `whole numbers from 1 to ${MAX_THREADS}, for ${key}`, show(threads), remedy);
  }
}

/**
 * A graph's number of threads; undefined if a trial must measure it.
 *
 * @param key    of the graph
 * @param own    the function's own choice
 * @param fixed  what `fixed` means for the graph
 */
export function threadsOf(key: string, own: ThreadSetting | undefined, fixed: () => number): number | undefined {
  const given = own ?? threadSetting();
  if (typeof given === 'number') return given;
  // What another graph of this process was given, on another number of cores, doesn't count for a fixed number.
  return given === 'fixed' ? (chosen.restored.get(key) ?? fixed()) : chosen.choices.get(key);
}

/** Whether a number of threads was set. */
export function isAsked(own: ThreadSetting | undefined): boolean {
  return typeof (own ?? threadSetting()) === 'number';
}

/** Records a graph's number of threads. */
export function noteThreads(key: string, threads: number): void {
  chosen.choices.set(key, threads);
}

/** Grows whenever {@link threadsOf} may have another answer. */
export function threadChanges(): number {
  return chosen.changes;
}

function fromEnvironment(): ThreadSetting | undefined {
  const given = environment(VARIABLE);
  if (given === undefined) return undefined;
  return checkThreads(VARIABLE, Number.isNaN(Number(given)) ? (given as ThreadSetting) : Number(given));
}

function checkThreads(where: string, threads: ThreadSetting): ThreadSetting {
  if (threads === 'fixed' || threads === 'trial' || isThreads(threads)) return threads;
  return fail(
    where,
    `a whole number from 1 to ${MAX_THREADS}, 'fixed' or 'trial'`,
    show(threads),
    "Leave it out for 'fixed'.",
  );
}

function isThreads(threads: unknown): threads is number {
  return Number.isSafeInteger(threads) && (threads as number) >= 1 && (threads as number) <= MAX_THREADS;
}
