import { join } from 'node:path';
import { markdownTable, textTable, writeFigure } from '@coplay/diagnostics';
import type { Settings } from './command-line';
import type { Context, Experiment } from './experiment';
import { setAside, writeJson } from './files';
import { createSeedLoop, type SeedCommits } from './seed-loop';

/** A context, and an experiment's results in it. */
export interface Workspace {
  readonly context: Context;
  /** Sections of the page, in order. */
  readonly sections: readonly string[];
  /** Names of figure files in the directory. */
  readonly figures: readonly string[];
  readonly seedCommits: SeedCommits;
}

/** The options that change a seed's results. */
function settingsOf({ options: own = {} }: Experiment, options: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !own[name]?.isSelection));
}

/**
 * Makes the context of one run of an experiment.
 *
 * @param directory  where its files go
 * @param commit     the commit that is checked out
 */
export function createWorkspace(
  experiment: Experiment,
  settings: Settings,
  directory: string,
  commit: string | null,
): Workspace {
  const { isQuick, isResume, options, withPython, peerFolders } = settings;
  const rawDirectory = join(directory, 'raw');
  if (!isResume) setAside(rawDirectory);
  const sections: string[] = [];
  const figures: string[] = [];
  const seedCommits: Record<string, Record<number, string | null>> = {};
  const seeds = Array.from({ length: settings.seeds }, (_, i) => settings.firstSeed + i);
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const context: Context = {
    isQuick,
    seeds,
    options,
    withPython,
    peerFolders,
    directory,
    say,
    seedLoop: createSeedLoop({
      seeds,
      directory: rawDirectory,
      isResume,
      identity: { experiment: experiment.name, isQuick, options: settingsOf(experiment, options) },
      commit,
      ran(label, seed, at) {
        seedCommits[label] = { ...seedCommits[label], [seed]: at };
      },
      say,
    }),
    raw: (name, data) => writeJson(join(rawDirectory, `${name}.json`), data),
    table(title, rows) {
      process.stdout.write(`\n${title}\n${textTable(rows)}`);
      sections.push(`## ${title}\n\n${markdownTable(rows).trimEnd()}`);
    },
    async figure(suffix, svg) {
      const stem = `${experiment.name}-${suffix}`;
      await writeFigure(join(directory, stem), svg);
      figures.push(`${stem}.svg`, `${stem}.png`);
      sections.push(`![${suffix}](${stem}.svg)`);
    },
  };
  return { context, sections, figures, seedCommits };
}
