import { fail, show } from '@coplay/core';
import { checkArgument, checkNumber, checkRecord } from '@coplay/core/checks';
import { z } from 'zod';
import { differences } from '../training/differences';
import type { Checkpoint } from './load';

// More would hide the first ones.
const SHOWN = 5;

/**
 * Refuses to go on from a checkpoint of another run: every field of `current` must be the same in the checkpoint's
 * description. Give what must not change: the game and its options, the agents, sizes of networks, the number of
 * environments. What may change (the steps to train, the log) is left out.
 *
 * @param about    of the checkpoint
 * @param current  the same fields of this run; values are compared as JSON
 * @throws CoplayError that names the fields that differ, such as `game.options.size`
 */
export function resumeFits(about: Readonly<Record<string, unknown>>, current: Readonly<Record<string, unknown>>): void {
  checkRecord('resumeFits', 'about', about);
  checkRecord('resumeFits', 'current', current);
  const found = differences(pick(about, Object.keys(current)), asJson(current));
  if (found.length === 0) return;
  const list = (side: 'theirs' | 'ours'): string =>
    found
      .slice(0, SHOWN)
      .map((difference) => `${difference.path} ${show(difference[side])}`)
      .join(', ');
  const more = found.length > SHOWN ? ` (and ${found.length - SHOWN} more)` : '';
  const remedy = 'Resume with the settings of the checkpoint, or start a new run in another directory.';
  fail('resumeFits', `the run of the checkpoint: ${list('theirs')}${more}`, list('ours'), remedy);
}

/**
 * One line to print after loading: `step-000000012345: 12,345 steps, update 24, saved 5 minutes ago by version 0.1.0`.
 * The update and the age come from `about.update` and `about.savedAt` (a time that `Date` reads), where they exist.
 *
 * @param now  milliseconds since 1970, for the age
 */
export function describeCheckpoint(checkpoint: Omit<Checkpoint, 'saved'>, now?: number): string {
  checkArgument('describeCheckpoint', 'checkpoint', checkpointSchema, checkpoint);
  if (now !== undefined) checkNumber('describeCheckpoint', 'now', now);
  const { path, step, about, library } = checkpoint;
  const name = path.split(/[/\\]/).pop() ?? path;
  const parts = [`${step.toLocaleString('en')} steps`];
  if (typeof about['update'] === 'number') parts.push(`update ${about['update'].toLocaleString('en')}`);
  const savedAt = typeof about['savedAt'] === 'string' ? Date.parse(about['savedAt']) : Number.NaN;
  const age = now === undefined || Number.isNaN(savedAt) ? '' : ` ${ageInWords(now - savedAt)}`;
  return `${name}: ${parts.join(', ')}, saved${age} by version ${library}`;
}

const checkpointSchema = z.looseObject({
  path: z.string(),
  step: z.number(),
  about: z.record(z.string(), z.unknown()),
  library: z.string(),
});

function asJson(current: Readonly<Record<string, unknown>>): unknown {
  try {
    return JSON.parse(JSON.stringify(current));
  } catch (error) {
    return fail('resumeFits: current', 'what JSON can hold', String(error), 'Give names, numbers, lists and records.');
  }
}

function pick(record: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, record[key]]));
}

function ageInWords(milliseconds: number): string {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  if (minutes < 1) return 'less than a minute ago';
  if (minutes < 60) return `${counted(minutes, 'minute')} ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${counted(hours, 'hour')} ago` : `${counted(Math.floor(hours / 24), 'day')} ago`;
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
