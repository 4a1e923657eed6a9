import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Identifies a process on this machine and among other machines; '' for the parts that a system doesn't report. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** The installation of the system, which tells machines of the same name apart. */
  readonly machine: string;
  /** Another one since the machine was started again. */
  readonly boot: string;
  /** In which process numbers are counted: each container has its own. */
  readonly namespace: string;
  /** When the process began, in the system's own units: the number of a process that ended is given away again. */
  readonly began: string;
}

/** Whether a process is there; `unseen` where this process can't look. */
export type ProcessState = 'running' | 'gone' | 'unseen';

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    host: hostname(),
    machine: textOf('/etc/machine-id'),
    boot: textOf('/proc/sys/kernel/random/boot_id'),
    namespace: namespaceOf('self'),
    began: beginOf(process.pid) ?? '',
  };
}

/** Whether a process still runs. */
export function stateOf(other: ProcessIdentity, own: ProcessIdentity = ownIdentity()): ProcessState {
  if (other.host !== own.host || other.machine !== own.machine) return 'unseen';
  if (other.boot !== own.boot) return 'gone';
  if (other.namespace !== own.namespace) return 'unseen';
  if (!isThere(other.pid)) return 'gone';
  const began = beginOf(other.pid);
  return began !== undefined && began !== other.began ? 'gone' : 'running';
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0); // sends nothing: asks whether it could
    return true;
  } catch (error) {
    // The process of another user may not be asked, but is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * When a process began, in ticks since the machine was started; undefined where there is no such process, and where the
 * system has no /proc. The name of its program comes second in the line and may hold blanks and brackets.
 */
function beginOf(pid: number): string | undefined {
  const line = textOf(`/proc/${pid}/stat`);
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended, though its parent hasn't looked yet.
  return fields[0] === 'Z' ? '' : fields[19];
}

function namespaceOf(pid: number | 'self'): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
