import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { spoken } from './calibration';
import { SHARED_OPTIONS, UsageError } from './command-line';
import type { Experiment } from './experiment';

/** Where experiments of a kind live: `bench` or `study` is also the name of each file's export. */
export interface Shelf {
  readonly kind: 'bench' | 'study';
  readonly folder: string;
  /** Where results that are committed go. Default: `results` in the folder */
  readonly results?: string | undefined;
  /** The commit that is checked out, see `commit`; for tests. Default: what git says */
  readonly commit?: string | undefined;
}

/** Names of the experiments of a folder. */
export function namesOf({ folder }: Shelf): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'run.ts');
  return files.map((name) => name.slice(0, -'.ts'.length)).sort();
}

/** Loads one by its name. @throws UsageError for a name that is none */
export async function load(shelf: Shelf, name: string): Promise<Experiment> {
  const names = namesOf(shelf);
  if (!names.includes(name)) throw new UsageError(`no ${shelf.kind} called ${name}; there are: ${names.join(', ')}`);
  const module = (await import(pathToFileURL(join(shelf.folder, `${name}.ts`)).href)) as Record<string, Experiment>;
  const experiment = module[shelf.kind];
  if (experiment?.name !== name) throw new Error(`${name}.ts must export a ${shelf.kind} whose name is ${name}`);
  return experiment;
}

/** The list that is shown when no name is given. */
export async function describeAll(shelf: Shelf): Promise<string> {
  const experiments = await Promise.all(namesOf(shelf).map((name) => load(shelf, name)));
  const width = Math.max(0, ...experiments.map(({ name }) => name.length));
  const lines = experiments.map(
    ({ name, description, minutes }) => `  ${name.padEnd(width)}  ${description} (${spoken(minutes)})`,
  );
  const own = experiments.flatMap(({ name, options = {} }) =>
    Object.entries(options).map(([key, { what, default: value }]) => `  --${key}  ${what} (${name}; default ${value})`),
  );
  const usage = `npm run ${shelf.kind} -- NAME [options]`;
  return `${[usage, '', ...lines, '', ...SHARED_OPTIONS.map((line) => `  ${line}`), ...own].join('\n')}\n`;
}
