import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fail } from '@coplay/core';
import type { Flags } from '../command';
import type { LoadedCode } from './code';

/** Code as it is identified: the configuration file, and checksums of all of its files, by absolute paths. */
type Code = Pick<LoadedCode, 'file' | 'files'>;

/** The flag of every command that loads a run. */
export const ALLOW_CODE = {
  'allow-code': { what: 'runs the code of a run that you did not train yourself on this machine: it can do anything' },
} as const;

/** Whether code may be run that isn't in the list: `--allow-code`. */
export interface Trust {
  readonly allowCode: boolean;
}

/** The trust that the flags of a command say. */
export function trustOf(flags: Flags): Trust {
  return { allowCode: flags['allow-code'] === true };
}

/** Permissions that would let another user add to the list. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Adds code to the list of what this user trained with. The list is outside of every run, so that a run can't vouch for
 * itself.
 *
 * @param warn  called if the list can't be written: training goes on without it
 */
export function noteOwnCode(code: Code, warn: (line: string) => void): void {
  try {
    const list = listPath();
    mkdirSync(dirname(list), { recursive: true, mode: 0o700 });
    // One short line at the end of the file: several processes may do so at once.
    appendFileSync(list, `${fingerprint(code)} ${JSON.stringify(code.file)}\n`, { mode: 0o600 });
  } catch (error) {
    const got = (error as Error).message;
    warn(`The list of your own code was not written (${got}): commands that load this run will need --allow-code.`);
  }
}

/**
 * Lets code of a run be loaded if this user trained with it, or says so with `--allow-code`. Every command that loads a
 * run asks here, before anything of it is run.
 *
 * @param directory  of the run, for the message
 * @throws CoplayError for code that is neither
 */
export function checkAllowed(directory: string, code: Code, { allowCode }: Trust): void {
  if (allowCode || ownFingerprints().has(fingerprint(code))) return;
  const expected =
    'a run whose code you trained with on this machine (the same files at the same place), or --allow-code';
  const got = `${code.file}, which is not in your list ${listPath()}`;
  const remedy =
    'This code can do anything that you can. Read it; if you trust it, add --allow-code (allowCode: true).';
  fail(directory, expected, got, remedy);
}

/**
 * SHA-256 over the paths and checksums. The place is part of it, since the packages that the code imports are found
 * from there: a copy of the same files elsewhere may import others.
 */
function fingerprint({ file, files }: Code): string {
  const sorted = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([file, sorted]))
    .digest('hex');
}

/** Those in the list; none where there is no list, or where others may write to it. */
function ownFingerprints(): ReadonlySet<string> {
  const list = listPath();
  try {
    if (isOpenToOthers(list)) return new Set();
    const lines = readFileSync(list, 'utf8').split('\n');
    return new Set(lines.map((line) => line.split(' ')[0]).filter((word) => word !== ''));
  } catch {
    return new Set();
  }
}

/** Windows has neither owners by number nor these permissions. */
function isOpenToOthers(list: string): boolean {
  if (process.getuid === undefined) return false;
  const { mode, uid } = statSync(list);
  return (mode & WRITABLE_BY_OTHERS) !== 0 || uid !== process.getuid();
}

/** `coplay/own-code` in `$XDG_STATE_HOME`, or in `~/.local/state`; the standard says to ignore a relative path. */
function listPath(): string {
  const told = process.env['XDG_STATE_HOME'];
  const state = told !== undefined && isAbsolute(told) ? told : join(homedir(), '.local', 'state');
  return join(state, 'coplay', 'own-code');
}
