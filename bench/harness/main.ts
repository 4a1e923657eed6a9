import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { writeWholeSync } from '@coplay/core/node';
import { textTable } from '@coplay/diagnostics';
import { slowdown, spoken } from './calibration';
import { describeAll, load, type Shelf } from './catalogue';
import { readSettings, type Settings, UsageError } from './command-line';
import { createWorkspace } from './context';
import type { Experiment } from './experiment';
import { readExact, writeJson, writeText } from './files';
import { commit } from './machine';
import { barRows, makePage } from './page';
import { exitStatus, makeResults, type Results } from './results';
import { sourceVersion } from './sources';

/**
 * The command line of benches and studies. Ends the process: status 0 when every bar holds, 1 when one doesn't or is
 * missing, 2 when it could not be run.
 */
export async function main(shelf: Shelf, args: readonly string[]): Promise<void> {
  try {
    const [name, ...rest] = args;
    if (name === undefined || name === '--help') return end(await describeAll(shelf), 0);
    const results = await runExperiment(shelf, name, rest);
    end(`RESULT ${JSON.stringify(results)}\n`, exitStatus(results));
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${isUsage ? error.message : (error as Error).stack}\n`);
    end('', 2);
  }
}

/** Runs one by its name and writes its files. */
async function runExperiment(shelf: Shelf, name: string, args: readonly string[]): Promise<Results> {
  const experiment = await load(shelf, name);
  const settings = readSettings(experiment, args);
  const at = shelf.commit ?? commit();
  const sources = sourceVersion(join(shelf.folder, `${name}.ts`), join(shelf.folder, '..'));
  const directory = settings.out ?? placeOf(shelf, name, settings);
  const { context, sections, figures, seedCommits } = createWorkspace(experiment, settings, directory, at);
  context.say(announce(experiment, settings, directory));

  const start = performance.now();
  const outcome = await experiment.run(context);
  const seconds = (performance.now() - start) / 1000;
  const command = ['npm run', shelf.kind, '--', name, ...withoutPaths(args)].join(' ');
  const results = makeResults(experiment, settings, outcome, { command, seconds, commit: at, sources, seedCommits });

  writeJson(join(directory, `${name}.json`), results);
  writeText(join(directory, `${name}.md`), makePage(results, sections));
  const files = [`${name}.json`, `${name}.md`, ...figures];
  const committed = shelf.results ?? join(shelf.folder, 'results');
  if (mayPublish(results, join(committed, `${name}.json`))) publish(directory, committed, files);
  else if (!settings.isQuick) context.say(`${committed} stays as it is: the results are in ${directory}`);
  process.stdout.write(`\n${textTable(barRows(results.bars))}\n`);
  if (results.leftOut.length > 0 && !settings.isQuick)
    context.say(`all bars are missing: ${results.leftOut.join('; ')}`);
  return results;
}

/** Where files go without --out: quick runs, and seeds other than 1..n, have folders of their own. */
function placeOf({ folder, kind }: Shelf, name: string, { isQuick, firstSeed, seeds }: Settings): string {
  const suffix = firstSeed === 1 ? '' : `-seeds-${firstSeed}-${firstSeed + seeds - 1}`;
  return join(folder, '..', 'runs', isQuick ? 'quick' : '', kind, `${name}${suffix}`);
}

/** The arguments, with `DIR` for absolute paths: they change no result, and mean nothing on another machine. */
function withoutPaths(args: readonly string[]): string[] {
  return args.map((arg) => {
    const [, option, value] = /^(--\w+=)?(.*)$/.exec(arg)!;
    return isAbsolute(value) ? `${option ?? ''}DIR` : arg;
  });
}

function announce({ name, minutes, seeds }: Experiment, settings: Settings, directory: string): string {
  if (settings.isQuick) return `${name}, quick: up to a minute; files go to ${directory}`;
  const here = minutes * (settings.seeds / seeds) * slowdown();
  return `${name}: about ${spoken(here)} on this machine, ${settings.seeds} seeds; files go to ${directory}`;
}

/** Committed results are those of seeds 1..n; results of a part don't take the place of those of the whole. */
function mayPublish({ settings, leftOut }: Results, path: string): boolean {
  if (settings.quick || settings.firstSeed !== 1) return false;
  const kept = leftOut.length > 0 ? (readExact(path) as Partial<Results> | undefined) : undefined;
  return kept?.leftOut?.length !== 0;
}

/** Copies the files to commit: small files only, no raw data. */
function publish(from: string, to: string, files: readonly string[]): void {
  for (const file of files)
    writeWholeSync(join(to, file), readFileSync(join(from, file)), { where: 'harness', makeFolder: true });
}

/** Exits when everything has been written, even if an experiment left something running. */
function end(text: string, status: number): void {
  process.stdout.write(text, () => process.exit(status));
}
