import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, CoplayError, fail, type Game, streamSeed } from '@coplay/core';
import { loadRun } from '@coplay/trainers';
import { describeCheckpoint, loadCheckpoint } from '@coplay/trainers/checkpoint';
import { type Flags, type Terminal, textOf, wholeNumber } from '../command';
import { configurationIn, runOf, trustOf } from '../configuration';

/** The flag of commands that load a run. */
export const STEP_FLAG = {
  step: { value: 'N|best', what: 'the step of the checkpoint, or best of a run with keepBest; default: the newest' },
} as const;

/** A checkpoint of a run. */
export type Step = number | 'best';

/** A run that was trained, by `coplay train` or by a script. */
export interface TrainedRun {
  readonly game: Game;
  /** Agents as they were in training, in the order of the game's seats. */
  readonly agents: readonly Agent[];
  /** Environment steps that they were trained for. */
  readonly envSteps: number;
  /** Of the run. */
  readonly seed: number;
  dispose(): void;
}

/**
 * The seed of the games that a command plays with a run, unless one is given: a stream of the run's seed for this
 * command alone, so that no games of the training, or of the table after it, are repeated.
 */
export function seedFor(command: 'evaluate' | 'record', { seed }: TrainedRun): number {
  return streamSeed(seed, `coplay ${command}`);
}

/**
 * The game and the agents of a run, with the parameters of its newest good checkpoint, or of the one that `--step`
 * names. Nothing in its directory changes.
 *
 * @param flags  of the command, which has `--allow-code` and `--step`
 * @throws CoplayError where there is no checkpoint, a part of the run can't be made by name, or the run's code is a
 *         stranger's
 */
export async function trainedRun(directory: string, flags: Flags, terminal: Terminal): Promise<TrainedRun> {
  checkRun(directory);
  const step = stepOf(directory, flags);
  return isOfCommandLine(directory)
    ? ofConfiguration(directory, step, flags, terminal)
    : ofScript(directory, step, terminal);
}

async function ofConfiguration(
  directory: string,
  step: Step | undefined,
  flags: Flags,
  { err }: Terminal,
): Promise<TrainedRun> {
  const configuration = await configurationIn(directory, trustOf(flags));
  const { run, game } = await runOf(configuration, directory, { warn: err });
  try {
    if (step !== undefined) {
      const checkpoint = await loadCheckpoint(checkpointPath(directory, step), { warn: err });
      await run.restore(checkpoint.saved);
      err(`loaded ${describeCheckpoint(checkpoint)}`);
    } else if (!(await run.resume())) refuseUntrained(directory, `coplay resume ${directory}`);
  } catch (error) {
    run.dispose();
    throw error;
  }
  const { seed } = configuration;
  return { game, agents: run.agents, envSteps: run.envSteps, seed, dispose: () => run.dispose() };
}

/** A run that a script began: its game and its agents must be ones that can be made by their names. */
async function ofScript(directory: string, step: Step | undefined, { err }: Terminal): Promise<TrainedRun> {
  try {
    const options = { ...(step !== undefined && { step }), learn: true, warn: err };
    const { game, agents, checkpoint, dispose } = await loadRun(directory, options);
    err(`loaded ${describeCheckpoint(checkpoint)}`);
    const { seed } = checkpoint.about['config'] as { readonly seed: number };
    return { game, agents, envSteps: checkpoint.step, seed, dispose };
  } catch (error) {
    if (!(error instanceof CoplayError)) throw error;
    const { complaint } = error;
    const more = 'The command line can give no parts of your own: a script that calls loadRun can.';
    throw new CoplayError({ ...complaint, remedy: `${complaint.remedy} ${more}` }, { cause: error });
  }
}

/** Whether `coplay train` began a run, and no script. */
function isOfCommandLine(directory: string): boolean {
  return existsSync(join(directory, 'coplay.json'));
}

function checkRun(directory: string): void {
  if (isOfCommandLine(directory)) return;
  if (!existsSync(join(directory, 'config.json'))) {
    const got = existsSync(directory) ? `${directory}, without config.json` : `${directory}, which does not exist`;
    fail('coplay', 'the directory of a run', got, 'Give one that `coplay train`, or selfPlay({ directory }), wrote.');
  }
  if (!existsSync(join(directory, 'checkpoints'))) refuseUntrained(directory, 'run its script');
}

function refuseUntrained(directory: string, how: string): never {
  return fail('coplay', `a checkpoint in ${directory}/checkpoints`, 'none', `Train it first: ${how}`);
}

/** Where a checkpoint is. */
export function checkpointPath(directory: string, step: Step): string {
  return step === 'best' ? join(directory, step) : join(directory, 'checkpoints', checkpointName(step));
}

/** The folder of a checkpoint. */
export function checkpointName(step: number): string {
  return `step-${String(step).padStart(12, '0')}`;
}

/**
 * The checkpoint that `--step` names; undefined for the newest one.
 *
 * @throws CoplayError where the run has none of that step, or no best one
 */
export function stepOf(directory: string, flags: Flags): Step | undefined {
  const text = textOf(flags, 'step');
  if (text === undefined) return undefined;
  if (text === 'best') {
    if (existsSync(join(directory, 'best'))) return text;
    const remedy = 'Train a run with evaluateEvery and keepBest, or leave --step out.';
    return fail('--step best', `the state of the best evaluation, ${directory}/best`, 'none', remedy);
  }
  const steps = stepsIn(join(directory, 'checkpoints'));
  const step = /^\d+$/.test(text) ? wholeNumber(flags, 'step') : undefined;
  if (step !== undefined && steps.includes(step)) return step;
  const known = steps.length > 0 ? steps.join(', ') : 'there are none';
  return fail('--step', `best, or a step of ${directory}/checkpoints: ${known}`, text, 'Give one of these.');
}

/** The steps of all checkpoints in a folder. */
export function stepsIn(folder: string): number[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => /^step-\d+$/.test(name)).map((name) => Number(name.slice('step-'.length)));
}
