import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Experience, fail } from '@coplay/core';
import { addToReport, realAndImagined, textTable, writeReport } from '@coplay/diagnostics';
import { executorInfo } from '@coplay/tensor';
import type { SelfPlay } from '@coplay/trainers';
import { answer, command, EXIT, type Flags, JSON_FLAG, type Terminal, textOf, textsOf, wholeNumber } from '../command';
import {
  giveBack,
  holding,
  isHeld,
  keepConfiguration,
  noteOwnCode,
  type ReadConfiguration,
  type RunConfiguration,
  readChanged,
  refuseBegun,
  runOf,
  settingsOf,
  unlessAborted,
} from '../configuration';

/** Of the evaluation after training. */
const EPISODES = 200;

/** `coplay train` */
export const trainCommand = command({
  usage: 'train CONFIG [--directory DIR]',
  summary:
    'Trains the run that a file (.json, .ts, .mts, .js, .mjs) describes, and writes a report. Ctrl-C ends it cleanly.',
  words: { least: 1, most: 1 },
  flags: {
    directory: { value: 'DIR', what: 'where its files go; default: that of the configuration' },
    steps: { value: 'N', what: 'environment steps in all; default: envSteps of the configuration' },
    seed: { value: 'N', what: 'default: that of the configuration' },
    seeds: { value: 'N', what: 'trains N runs, with this seed and the next ones, in DIR/seed-1, DIR/seed-2, ...' },
    set: {
      value: 'FIELD=VALUE',
      what: 'another value of a field: envs=64, game.size=8, ppo.learningRate=1e-3',
      isMany: true,
    },
    ...JSON_FLAG,
  },
  async run([path], flags, terminal) {
    const envSteps = wholeNumber(flags, 'steps', 1);
    const seed = wholeNumber(flags, 'seed');
    const seeds = wholeNumber(flags, 'seeds', 1);
    const { configuration: given, ...read } = await readChanged(path, settingsOf(textsOf(flags, 'set')));
    const directory = textOf(flags, 'directory') ?? given.directory;
    if (!directory) {
      fail('coplay train', 'a directory', 'none', 'Give --directory runs/NAME, or directory in the configuration.');
    }
    const configuration = { ...given, directory, envSteps: envSteps ?? given.envSteps, seed: seed ?? given.seed };
    const begin = (one: RunConfiguration) => trainInto({ configuration: one, ...read }, { terminal, flags });
    if (seeds === undefined) return begin(configuration);
    const all = Array.from({ length: seeds }, (_, i) => configuration.seed + i).map((own) => {
      return { ...configuration, seed: own, directory: join(directory, `seed-${own}`) };
    });
    for (const one of all) refuseBegun(one.directory);
    for (const one of all) {
      const code = await begin(one);
      if (code !== EXIT.ok) return code;
    }
    const report = join(directory, 'report.html');
    writeReport(
      report,
      all.map((one) => one.directory),
    );
    terminal.err(`Report of all seeds: ${report}`);
    return EXIT.ok;
  },
});

/** A command's terminal and flags. */
interface Setting {
  readonly terminal: Terminal;
  readonly flags: Flags;
}

/** Trains a run anew in the directory of its configuration. */
async function trainInto(read: ReadConfiguration, { terminal, flags }: Setting): Promise<number> {
  const { configuration, code } = read;
  const directory = configuration.directory!;
  refuseBegun(directory);
  const { run, last } = await watchedRun(configuration, directory, terminal);
  // Another process may have begun a run there while this one was being made.
  if (isHeld(run)) refuseBegun(directory);
  return holding(run, async () => {
    keepConfiguration(directory, read);
    if (code) noteOwnCode(code, terminal.err);
    try {
      return await train(run, configuration, directory, { terminal, flags }, last);
    } catch (error) {
      giveBack(directory);
      throw error;
    }
  });
}

/** The newest rollout of a run. */
interface Last {
  experience?: Experience;
}

/** A run to train, and its last experience. */
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

/**
 * Trains to the end or until it's interrupted; then writes the report, and a table of an evaluation.
 *
 * @returns the exit code: that of a failure too where lines of a log are missing
 */
export async function train(
  run: SelfPlay,
  { envSteps, patience }: RunConfiguration,
  directory: string,
  { terminal, flags }: Setting,
  last: Readonly<Last>,
): Promise<number> {
  terminal.err(`Compiled functions run on ${(await executorInfo()).reason}. Files go to ${directory}`);
  const signal = terminal.interrupt();
  await run.train({ envSteps, signal });
  if (last.experience) addToReport(directory, { distributions: distributionsOf(last.experience) });
  if (existsSync(join(directory, 'log.jsonl'))) writeReport(join(directory, 'report.html'), [directory]);
  if (run.envSteps < envSteps && signal.aborted) {
    terminal.err(`Stopped after ${run.envSteps} of ${envSteps} steps. To go on: coplay resume ${directory}`);
    return EXIT.interrupted;
  }
  if (run.envSteps < envSteps) {
    terminal.err(
      `Ended after ${run.envSteps} of ${envSteps} steps: ${patience} evaluations weren't better than before.`,
    );
  }
  terminal.err(`Evaluating: ${EPISODES} episodes ...`);
  const evaluation = await unlessAborted(signal, () => run.evaluate({ episodes: EPISODES, signal }));
  if (!evaluation) {
    terminal.err(`Stopped in the evaluation; the training is done. To evaluate: coplay evaluate ${directory}`);
    return EXIT.interrupted;
  }
  const { byAgent, mean } = evaluation;
  const report = join(directory, 'report.html');
  const result = { directory, envSteps: run.envSteps, episodes: EPISODES, mean, byAgent, report, best: run.best };
  answer(terminal, flags, result, () => {
    return `${textTable(Object.entries(byAgent).map(([agent, row]) => ({ agent, ...row })))}\nReport: ${report}`;
  });
  return run.missing.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Of the last rollout, by titles that say so. */
function distributionsOf(experience: Experience) {
  const found = Object.entries(realAndImagined([{ experience }]));
  return Object.fromEntries(found.map(([name, origins]) => [`${name} of the last rollout`, origins]));
}
