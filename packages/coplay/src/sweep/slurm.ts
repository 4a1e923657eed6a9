import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { fail } from '@coplay/core';
import { writeWholeSync } from '@coplay/core/node';
import { OWN_COMMAND } from './local';

/*
 * Sweeps on a cluster with SLURM: one job array, of which each task does one run by `coplay sweep --index`, and one job
 * after it, which writes index and report. SLURM does the rest: it finds machines, and begins tasks of machines that
 * failed again.
 */

const execute = promisify(execFile);

/** Jobs that SLURM has accepted, by their numbers. */
export interface SubmittedJobs {
  /** Of the array. */
  readonly array: string;
  /** Of the job that writes index and report. */
  readonly summary: string;
}

/** Seconds before a time limit at which SLURM says so: time for an update and a checkpoint. */
const MARGIN = 60;

/**
 * Gives runs of a sweep to SLURM and returns at once.
 *
 * @param indices  of the runs in the sweep's plan, at least one
 * @param jobs     runs at once; undefined for as many as SLURM has room for
 * @throws CoplayError where SLURM isn't there, refuses the jobs, or has jobs of this directory already
 */
export async function submitToSlurm(
  file: string,
  directory: string,
  indices: readonly number[],
  jobs: number | undefined,
): Promise<SubmittedJobs> {
  const place = resolve(directory, 'slurm');
  const kept = join(place, 'job');
  if (existsSync(kept)) await refuseWaiting(readFileSync(kept, 'utf8').trim());
  mkdirSync(place, { recursive: true });
  const script = join(place, 'sweep.sh');
  writeWholeSync(script, scriptOf(file, directory, indices, jobs), { where: 'coplay sweep --slurm' });
  const array = await sbatch([`--output=${join(place, '%a.txt')}`, script]);
  writeWholeSync(kept, `${array}\n`, { where: 'coplay sweep --slurm' });
  const output = `--output=${join(place, 'summary.txt')}`;
  const command = commandOf(file, directory, '--summary');
  const summary = await sbatch([
    `--dependency=afterany:${array}`,
    '--job-name=coplay-summary',
    output,
    '--wrap',
    command,
  ]);
  return { array, summary };
}

/** @throws CoplayError where SLURM isn't installed on this machine */
export async function checkSlurm(): Promise<void> {
  await execute('sbatch', ['--version']).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') {
      fail(
        'coplay sweep --slurm',
        'the command sbatch of SLURM',
        'none',
        'Run it on a machine from which jobs are sent.',
      );
    }
  });
}

/** Two arrays would do each run twice, one of them in vain. */
async function refuseWaiting(array: string): Promise<void> {
  // squeue fails for a job that SLURM has forgotten.
  const { stdout } = await execute('squeue', ['--noheader', `--jobs=${array}`]).catch(() => ({ stdout: '' }));
  if (stdout.trim() === '') return;
  const remedy = `Wait until it has ended (squeue --jobs=${array}), or cancel it: scancel ${array}`;
  fail('coplay sweep --slurm', 'a directory without jobs', `job ${array}, which is in the queue still`, remedy);
}

async function sbatch(words: readonly string[]): Promise<string> {
  try {
    const { stdout } = await execute('sbatch', ['--parsable', ...words]);
    return stdout.trim().split(';')[0]; // the name of the cluster may follow
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    const remedy =
      'Options of sbatch can be given by its variables: SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_TIMELIMIT.';
    return fail('coplay sweep --slurm', 'a job that sbatch accepts', stderr.trim() || message, remedy);
  }
}

function scriptOf(file: string, directory: string, indices: readonly number[], jobs: number | undefined): string {
  const array = `${rangesOf(indices)}${jobs === undefined ? '' : `%${jobs}`}`;
  return `#!/bin/bash
#SBATCH --job-name=coplay-sweep
#SBATCH --array=${array}
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@${MARGIN}
export COPLAY_THREADS="\${COPLAY_THREADS:-\${SLURM_CPUS_PER_TASK:-1}}"
${commandOf(file, directory, '--index')} "$SLURM_ARRAY_TASK_ID" &
run=$!
# Before the time limit SLURM sends USR1 to this shell alone: the run saves a checkpoint, and its task waits again.
# TERM goes to all processes of a task that must make room; SLURM then decides whether it waits again.
trap 'isOver=1; isStopped=1; kill -USR1 $run' USR1
trap 'isStopped=1' TERM
while :; do
  isStopped=
  wait $run
  status=$?
  [ -n "$isStopped" ] || break
done
if [ -n "$isOver" ] && [ $status -eq 130 ]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit $status
`;
}

/** The command line of a sweep, for a shell. */
function commandOf(file: string, directory: string, ...more: readonly string[]): string {
  return [...OWN_COMMAND, 'sweep', resolve(file), '--directory', resolve(directory), ...more].map(quoted).join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whole numbers that rise, as SLURM writes them: `0-3,7`. */
function rangesOf(indices: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const index of indices) {
    const last = ranges.at(-1);
    if (last && index === last[1] + 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',');
}
