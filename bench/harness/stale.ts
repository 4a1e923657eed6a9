import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { load, namesOf, type Shelf } from './catalogue';
import type { Experiment } from './experiment';
import { barSection } from './page';
import { demandOf, leftOutBy, type Results, uncommitted } from './results';
import { sourceVersion } from './sources';

/** Committed results and the experiment that they are of. */
export interface Finding {
  /** The name of the results, without `.json`. */
  readonly name: string;
  /** undefined for an experiment without committed results. */
  readonly results: Results | undefined;
  /** undefined for results whose experiment is gone. */
  readonly experiment: Experiment | undefined;
  /** Where the two have come apart, in words; none where the results are those of the experiment as it is. */
  readonly problems: readonly string[];
}

/** Compares all committed results of a shelf with its experiments, by name. */
export async function compareResults(shelf: Shelf): Promise<Finding[]> {
  const folder = shelf.results ?? join(shelf.folder, 'results');
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
  const known = namesOf(shelf);
  const names = [...new Set([...known, ...files.map((file) => file.slice(0, -'.json'.length))])].sort();
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, `${name}.json`);
      const results = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Results) : undefined;
      const experiment = known.includes(name) ? await load(shelf, name) : undefined;
      const problems =
        results && experiment
          ? [...differences(results, experiment, shelf), ...pageProblems(results, folder)]
          : [results ? `there is no ${shelf.kind} of this name` : 'it has no committed results'];
      return { name, results, experiment, problems };
    }),
  );
}

function differences(results: Results, experiment: Experiment, shelf: Shelf): string[] {
  const { name, settings, otherCommits, commit } = results;
  const problems = [...differentBars(results, experiment)];
  if (name !== experiment.name) problems.push(`they are results of ${name}`);
  if (settings.quick) problems.push('they are of a quick run');
  const options = Object.keys(experiment.options ?? {});
  if (!isDeepStrictEqual(Object.keys(settings.options).sort(), options.sort()))
    problems.push(`options were ${names(Object.keys(settings.options))}, now ${names(options)}`);
  const dirty = uncommitted([commit, ...Object.keys(otherCommits)]);
  const leftOut = [...leftOutBy(experiment, settings), ...dirty];
  if (!isDeepStrictEqual(results.leftOut, leftOut)) problems.push(...leftOut);
  else problems.push(...dirty);
  if (results.sources !== sourceVersion(join(shelf.folder, `${experiment.name}.ts`), join(shelf.folder, '..')))
    problems.push('its code has changed');
  return problems;
}

function differentBars({ bars }: Results, experiment: Experiment): string[] {
  const problems: string[] = [];
  for (const [name, bar] of Object.entries(experiment.bars)) {
    const { limit, must } = demandOf(bar);
    const judged = bars[name];
    if (!judged) problems.push(`the bar ${name} has no result`);
    else if (judged.bar !== limit || judged.must !== must)
      problems.push(`${name} was judged by ${judged.must} ${judged.bar}, now ${must} ${limit}`);
    else if (judged.what !== bar.what) problems.push(`${name} was described as "${judged.what}"`);
  }
  const gone = Object.keys(bars).filter((name) => !(name in experiment.bars));
  return gone.length > 0 ? [...problems, `bars that are gone: ${names(gone)}`] : problems;
}

/** The page must be there with the same bars, and its figures next to it. */
function pageProblems(results: Results, folder: string): string[] {
  const path = join(folder, `${results.name}.md`);
  if (!existsSync(path)) return [`${results.name}.md is missing`];
  const page = readFileSync(path, 'utf8');
  const figures = [...page.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map((match) => match[1]);
  const missing = figures.filter((figure) => !existsSync(join(folder, figure)));
  return [
    ...(barSection(results).every((section) => page.includes(section)) ? [] : [`${results.name}.md has other bars`]),
    ...missing.map((figure) => `the figure ${figure} is missing`),
  ];
}

function names(list: readonly string[]): string {
  return list.length > 0 ? list.join(', ') : 'none';
}
