import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fail } from '../errors';
import { parseJson } from '../json';
import { codeOf, writeError } from './file-errors';
import { atProcessEnd } from './process-end';
import { ownIdentity, type ProcessIdentity, stateOf } from './processes';
import { writeWholeSync } from './write-whole';

/** A lock that this process holds. */
export interface Lock {
  /** Lets others have it. Calling it again does nothing. */
  release(): void;
}

/** What stands in the file of a lock. */
interface Claim extends ProcessIdentity {
  /** When the process began, for people. */
  readonly started: string;
  /** Whether no other process had the lock; until then the claim's process may still withdraw. */
  readonly isHeld: boolean;
}

/** A claim with its file. */
interface FoundClaim {
  readonly file: string;
  /** Undefined where the file is no claim. */
  readonly claim: Claim | undefined;
}

/**
 * How often a holder says that it is there, for processes that can't look: those in other containers of the same
 * machine.
 */
const HEARTBEAT_MS = 15_000;
/** A holder that can't be looked at and has said nothing for so long is gone. */
const SILENCE_MS = 8 * HEARTBEAT_MS;
/** A claim is decided within milliseconds; one that isn't belongs to a process that hangs or can't be seen. */
const PATIENCE_MS = 2_000;
const POLL_MS = 5;

/**
 * Takes a lock, so that one process at a time writes somewhere. The lock is a file `PATH.ID.lock` with the number, the
 * host and the start of the process that holds it. It ends with {@link Lock.release} or with the process; the lock of a
 * process that was killed is taken over.
 *
 * Every contender writes a file of its own and then looks for others. Of two at least one sees the other, so that they
 * can't both believe to be alone, and no file has to be taken away from a process that may be alive.
 *
 * @param where  the function that an error names
 * @param path   the path that is locked, such as `runs/a/run`; its folder must exist
 * @param what   its description in an error: `the directory runs/a`
 * @throws CoplayError that says who holds it, or why the file can't be written
 */
export function takeLock(where: string, path: string, what: string): Lock {
  const id = randomUUID();
  const file = `${path}.${id}.lock`;
  const identity = ownIdentity();
  const own = { ...identity, started: new Date(performance.timeOrigin).toISOString() };
  const write = (isHeld: boolean) =>
    writeWholeSync(file, `${JSON.stringify({ ...own, isHeld }, null, 2)}\n`, {
      where,
      remedy: 'Mend the cause and try again.',
    });
  const remove = () => rmSync(file, { force: true });
  const takeBack = atProcessEnd(remove);
  try {
    write(false);
    settle(where, path, file, what, identity);
    write(true);
  } catch (error) {
    takeBack();
    remove();
    throw error;
  }
  const heartbeat = setInterval(() => touch(file), HEARTBEAT_MS);
  heartbeat.unref();
  return {
    release() {
      clearInterval(heartbeat);
      takeBack();
      remove();
    },
  };
}

/**
 * Takes the directory of a run, which is made where there is none: of all runs one at a time writes there.
 *
 * @param where  the function that an error names
 * @throws CoplayError that says who holds it, or why it can't be written
 */
export function lockDirectory(where: string, directory: string): Lock {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw writeError(where, `to write ${directory}`, error, 'Choose a directory that can be written.');
  }
  return takeLock(where, join(directory, 'run'), `the directory ${directory}`);
}

/**
 * Returns when there is no other claim. Of claims that are made at the same time, the one with the least name stays.
 */
function settle(where: string, path: string, file: string, what: string, own: ProcessIdentity): void {
  for (let waited = 0; ; waited += POLL_MS) {
    const others = claimsOn(path).filter((other) => other.file !== file && !isGone(other, file, own));
    if (others.length === 0) return;
    const isLate = waited >= PATIENCE_MS;
    const first = others.find(
      (other) => isLate || other.claim === undefined || other.claim.isHeld || other.file < file,
    );
    if (first) refuse(where, what, first, own);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

/** Whether the process of a claim has ended; then its file is removed. */
function isGone({ file, claim }: FoundClaim, ownFile: string, own: ProcessIdentity): boolean {
  if (claim === undefined) return false;
  const state = stateOf(claim, own);
  const isSilent = claim.host === own.host && claim.machine === own.machine && age(file, ownFile) > SILENCE_MS;
  const gone = state === 'gone' || (state === 'unseen' && isSilent);
  if (gone) rmSync(file, { force: true });
  return gone;
}

/** Milliseconds since a holder last said that it is there, by the clock of the file system alone. */
function age(file: string, ownFile: string): number {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 0 : statSync(ownFile).mtimeMs - found.mtimeMs;
}

function claimsOn(path: string): FoundClaim[] {
  const start = `${basename(path)}.`;
  const names = readdirSync(dirname(path)).filter(
    (name) => name.startsWith(start) && /^[0-9a-f-]{36}\.lock$/.test(name.slice(start.length)),
  );
  return names.flatMap((name) => {
    const file = join(dirname(path), name);
    const claim = readClaim(file);
    return claim === 'absent' ? [] : [{ file, claim }];
  });
}

function readClaim(file: string): Claim | undefined | 'absent' {
  try {
    const claim = parseJson('lock', readFileSync(file, 'utf8')) as Claim | null;
    return Number.isSafeInteger(claim?.pid) && typeof claim?.host === 'string' ? claim : undefined;
  } catch (error) {
    // It was released in the meantime.
    return codeOf(error) === 'ENOENT' ? 'absent' : undefined;
  }
}

function touch(file: string): void {
  try {
    const now = (performance.timeOrigin + performance.now()) / 1000;
    utimesSync(file, now, now);
  } catch {
    // It was removed by hand, or the disk is gone: neither is mended here.
  }
}

function refuse(where: string, what: string, { file, claim }: FoundClaim, own: ProcessIdentity): never {
  const expected = `${what} to itself`;
  if (claim === undefined)
    fail(where, expected, `a damaged lock ${file}`, 'If nothing else writes there, remove that file.');
  const isOwn = stateOf(claim, own) === 'running' && claim.pid === own.pid;
  const holder = isOwn ? 'this process itself' : `process ${claim.pid} on ${claim.host}, started ${claim.started}`;
  const got = `one that ${holder} writes to`;
  const isSeen = stateOf(claim, own) === 'running';
  const remedy = isSeen
    ? 'Wait until it has ended, or choose another directory.'
    : `This process can't see whether it still runs: if it has ended, remove ${file}. Otherwise choose another directory.`;
  fail(where, expected, got, remedy);
}
