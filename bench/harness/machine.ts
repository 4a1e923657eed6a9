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

/**
 * The commit that is checked out, with `+` behind it where code differs, also by new files of benches, studies and
 * packages; null outside of a repository.
 */
export function commit(): string | null {
  // Experiments write results themselves, and `npm run generate` then fills them into pages.
  const pages = [':!bench/results', ':!studies/results', ':!docs', ':!*.md'];
  try {
    const hash = git('rev-parse', '--short=12', 'HEAD');
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', ':/', ...pages);
    const added = git(
      'ls-files',
      '--others',
      '--exclude-standard',
      '--',
      ':/bench',
      ':/studies',
      ':/packages',
      ...pages,
    );
    return changed + added === '' ? hash : `${hash}+`;
  } catch {
    return null;
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
