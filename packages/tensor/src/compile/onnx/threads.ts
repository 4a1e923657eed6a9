import { fail, show } from '@coplay/core';
import { environment } from '../environment';

/** Threads of a graph: a whole number from 1, or chosen by a short trial. */
export type ThreadSetting = number | 'trial';

/** The threads that graphs were given, by function and graph: `{ 'ppo/update#1f0c2a9b': 2 }`; `ppo/update#` is what a trial found for the function. JSON. */
export type ThreadChoices = Readonly<Record<string, number>>;

const VARIABLE = 'COPLAY_THREADS';

/** What {@link useThreads} was given; undefined for a trial. */
let setting: number | undefined;
let choices = new Map<string, number>();
let changes = 0;

/**
 * How many threads a graph may use inside an operation, for all functions that don't say so themselves. By default, in
 * Node, the environment variable `COPLAY_THREADS` decides if it's set, else a short trial when a function's first
 * large graph runs for the first time; the outcome is remembered for the function. `useThreads('trial')` goes back to that and forgets what is
 * remembered.
 *
 * Up to 2 threads gave the same bits as 1 in every graph of ours that was tried; with more, sums of some operations are
 * rounded otherwise.
 *
 * @param threads  a whole number, at least 1, or `trial`
 */
export function useThreads(threads: ThreadSetting): void {
  const checked = checkThreads('useThreads', threads);
  setting = checked === 'trial' ? undefined : checked;
  if (checked === 'trial') choices = new Map();
  changes++;
}

/** What each graph was given so far in this process, to be kept with a run. */
export function threadChoices(): ThreadChoices {
  return Object.fromEntries([...choices].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Takes over what another process chose, so that a resumed run computes as before; graphs that it doesn't name keep
 * theirs. A number given by {@link useThreads}, by `COPLAY_THREADS` or by the function itself goes before it.
 *
 * @throws CoplayError if it's not what {@link threadChoices} returned; nothing is taken over then
 */
export function restoreThreadChoices(saved: ThreadChoices): void {
  const entries = Object.entries(saved ?? {});
  for (const [key, threads] of entries) {
    if (!isThreads(threads)) fail('restoreThreadChoices', `whole numbers from 1, for ${key}`, show(threads), REMEDY);
  }
  for (const [key, threads] of entries) choices.set(key, threads);
  changes++;
}

const REMEDY = 'Give what threadChoices() returned.';

/** What a graph should use; undefined if a trial must tell. */
export function threadsOf(key: string, own: ThreadSetting | undefined): number | undefined {
  return askedThreads(own) ?? choices.get(key);
}

/** The number that somebody asked for, if it isn't left to trials. */
export function askedThreads(own: ThreadSetting | undefined): number | undefined {
  const given = own ?? setting ?? fromEnvironment();
  return given === 'trial' ? undefined : given;
}

/** Notes what a graph uses. */
export function noteThreads(key: string, threads: number): void {
  choices.set(key, threads);
}

/** Grows whenever {@link threadsOf} may have another answer. */
export function threadChanges(): number {
  return changes;
}

function fromEnvironment(): ThreadSetting | undefined {
  const given = environment(VARIABLE);
  if (given === undefined || given === 'trial') return given;
  return checkThreads(VARIABLE, Number(given));
}

function checkThreads(where: string, threads: ThreadSetting): ThreadSetting {
  if (threads === 'trial' || isThreads(threads)) return threads;
  return fail(where, "a whole number from 1, or 'trial'", show(threads), 'Leave it out for a trial.');
}

function isThreads(threads: unknown): threads is number {
  return Number.isSafeInteger(threads) && (threads as number) >= 1;
}
