import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LogEntry } from '@coplay/core';
import { holding, isHeld, keepConfiguration, runOf, unlessAborted } from '../configuration';
import { configurationOf, endOf, type PlannedSweep, type RunResult, writeEnd } from './directory';
import type { PlannedRun } from './plan';

/** How far a run is. */
export interface RunProgress {
  readonly envSteps: number;
  /** Steps in all. */
  readonly total: number;
  /** Mean return of the episodes that ended in the newest rollout; null where none ended yet. */
  readonly returnMean: number | null;
}

/**
 * How a run's work ended: with a result, with an error, early at a signal, after a checkpoint, or at once, since
 * another process is at it.
 */
export type RunEnd = RunResult | { readonly error: string } | 'stopped' | 'taken';

/**
 * Trains one run of a sweep and evaluates it, from its newest checkpoint where it was begun before. A run that has its
 * result isn't done again; one that failed is tried again.
 *
 * @param signal      ends the training early, after a checkpoint, or the evaluation
 * @param onProgress  called after each update
 */
export async function perform(
  directory: string,
  planned: PlannedSweep,
  run: PlannedRun,
  signal: AbortSignal,
  onProgress: (progress: RunProgress) => void,
): Promise<RunEnd> {
  const end = endOf(directory, run);
  if (end && !('error' in end)) return end;
  try {
    const result = await train(directory, planned, run, signal, onProgress);
    if (typeof result === 'string') return result;
    rmSync(join(directory, run.name, 'failure.json'), { force: true });
    writeEnd(directory, run, result);
    return result;
  } catch (error) {
    const failure = { error: error instanceof Error ? error.message : String(error) };
    writeEnd(directory, run, failure);
    return failure;
  }
}

async function train(
  directory: string,
  planned: PlannedSweep,
  { name, ...rest }: PlannedRun,
  signal: AbortSignal,
  onProgress: (progress: RunProgress) => void,
): Promise<RunResult | 'stopped' | 'taken'> {
  const start = performance.now();
  const place = join(directory, name);
  const { configuration, code } = configurationOf(directory, planned, { name, ...rest });
  const own = { ...configuration, directory: place };
  const total = rest.envSteps ?? own.envSteps;
  let returnMean: number | null = null;
  const write = ({ envSteps, metrics }: LogEntry) => {
    returnMean = metrics['episode/return_mean'] ?? returnMean;
    onProgress({ envSteps, total, returnMean });
  };
  const warnings: string[] = [];
  const { run } = await runOf(own, place, {
    warn: (line) => void warnings.push(line),
    sinks: [{ start() {}, close() {}, write }],
  });
  if (isHeld(run)) {
    run.dispose();
    return 'taken';
  }
  return holding(run, async () => {
    // It may have ended while this process was making its own.
    const end = endOf(directory, { name, ...rest });
    if (end && !('error' in end)) return end;
    if (existsSync(join(place, 'coplay.json'))) await run.resume();
    else keepConfiguration(place, { configuration: own, ...(code?.file && { code }) });
    // Schedules end where the whole run does.
    await run.train({ envSteps: total, horizon: own.envSteps, signal });
    // A run that is out of patience has ended, with fewer steps.
    if (run.envSteps < total && signal.aborted) return 'stopped';
    if (run.missing.length > 0) throw new Error(`Lines of a log are missing: ${warnings.join(' ')}`);
    const { episodes } = planned.sweep;
    const evaluation = await unlessAborted(signal, () => run.evaluate({ episodes, signal }));
    if (!evaluation) return 'stopped';
    const { mean, returnMean: returns } = evaluation;
    return { envSteps: run.envSteps, mean, returns, seconds: (performance.now() - start) / 1000 };
  });
}
