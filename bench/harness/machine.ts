import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';

/** The machine on which a figure was measured. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly platform: string;
}

/** This machine. */
export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}-${process.arch}`,
  };
}

/** The commit that is checked out, with `+` behind it where tracked files differ; null outside of a repository. */
export function commit(): string | null {
  try {
    const hash = git('rev-parse', '--short=12', 'HEAD');
    // Results are written by the experiment itself.
    const changes = git(
      'status',
      '--porcelain',
      '--untracked-files=no',
      '--',
      '.',
      ':!bench/results',
      ':!studies/results',
    );
    return changes === '' ? hash : `${hash}+`;
  } catch {
    return null;
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
