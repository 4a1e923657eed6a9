import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Experience, fail } from '@coplay/core';
import { addToReport, realAndImagined, textTable, writeReport } from '@coplay/diagnostics';
import { executorInfo } from '@coplay/tensor';
import type { SelfPlay } from '@coplay/trainers';
import { command, EXIT, type Terminal, textOf, wholeNumber } from '../command';
import {
  giveBack,
  keepConfiguration,
  noteOwnCode,
  type RunConfiguration,
  readConfiguration,
  refuseBegun,
  runOf,
} from '../configuration';

/** `coplay train` */
export const trainCommand = command({
  usage: 'train CONFIG [--directory DIR]',
  summary:
    'Trains what a file (.json, .ts, .mts, .js, .mjs) describes, and writes a report. Ctrl-C stops it in good order.',
  words: { least: 1, most: 1 },
  flags: {
    directory: { value: 'DIR', what: 'where its files go; default: that of the configuration' },
    steps: { value: 'N', what: 'environment steps in all; default: envSteps of the configuration' },
    seed: { value: 'N', what: 'default: that of the configuration' },
  },
  async run([path], flags, terminal) {
    const envSteps = wholeNumber(flags, 'steps', 1);
    const seed = wholeNumber(flags, 'seed');
    const { configuration: given, ...read } = await readConfiguration(path);
    const directory = textOf(flags, 'directory') ?? given.directory;
    if (!directory) {
      fail('coplay train', 'a directory', 'none', 'Give --directory runs/NAME, or directory in the configuration.');
    }
    refuseBegun(directory);
    const configuration = { ...given, directory, envSteps: envSteps ?? given.envSteps, seed: seed ?? given.seed };
    const { run, last } = await watchedRun(configuration, directory, terminal);
    try {
      keepConfiguration(directory, { configuration, ...read });
      if (read.code) noteOwnCode(read.code, terminal.err);
    } catch (error) {
      run.dispose();
      throw error;
    }
    try {
      return await train(run, configuration, directory, terminal, last);
    } catch (error) {
      giveBack(directory);
      throw error;
    }
  },
});

/** The newest rollout of a run. */
interface Last {
  experience?: Experience;
}

/** A run that is to be trained, and what it last lived through. */
export async function watchedRun(
  configuration: RunConfiguration,
  directory: string,
  { err }: Terminal,
): Promise<{ readonly run: SelfPlay; readonly last: Readonly<Last> }> {
  const last: Last = {};
  const onRollout = (experience: Experience) => {
    last.experience = experience;
  };
  const { run } = await runOf(configuration, directory, { warn: err, onRollout });
  return { run, last };
}

/** Trains to the end or until it's interrupted; then a table of an evaluation, and the report. */
export async function train(
  run: SelfPlay,
  { envSteps }: RunConfiguration,
  directory: string,
  terminal: Terminal,
  last: Readonly<Last>,
): Promise<number> {
  terminal.err(`Compiled functions run on ${(await executorInfo()).reason}. Files go to ${directory}`);
  const signal = terminal.interrupt();
  try {
    await run.train({ envSteps, signal });
    if (last.experience) addToReport(directory, { distributions: distributionsOf(last.experience) });
    if (existsSync(join(directory, 'log.jsonl'))) writeReport(join(directory, 'report.html'), [directory]);
    if (run.envSteps < envSteps) {
      terminal.err(`Stopped after ${run.envSteps} of ${envSteps} steps. To go on: coplay resume ${directory}`);
      return EXIT.interrupted;
    }
    const { byAgent } = await run.evaluate({ episodes: 200 });
    terminal.out(textTable(Object.entries(byAgent).map(([agent, row]) => ({ agent, ...row }))));
    terminal.out(`Report: ${join(directory, 'report.html')}`);
    return EXIT.ok;
  } finally {
    run.dispose();
  }
}

/** Of the last rollout, by titles that say so. */
function distributionsOf(experience: Experience) {
  const found = Object.entries(realAndImagined([{ experience }]));
  return Object.fromEntries(found.map(([name, origins]) => [`${name} of the last rollout`, origins]));
}
