import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { jsonLines, progress } from '@coplay/diagnostics';
import { spoken } from './calibration';
import type { Context, SeedPlace } from './experiment';
import { readExact, writeExact } from './files';

/** The settings in which a seed's raw data must agree before they are used again. */
type Identity = Readonly<Record<string, unknown>>;

/** The commit at which each seed of each loop was run, by label and seed; null where it isn't known. */
export type SeedCommits = Readonly<Record<string, Readonly<Record<number, string | null>>>>;

/** The settings of a loop over seeds. */
export interface SeedLoopSetup {
  readonly seeds: readonly number[];
  /** Where raw data go. */
  readonly directory: string;
  readonly isResume: boolean;
  /** Settings that change a seed's results, such as the experiment's own options. */
  readonly identity: Identity;
  /** The commit that is checked out, kept with each seed. */
  readonly commit: string | null;
  /** Receives the commit of every seed, including seeds that an earlier run finished. */
  ran(label: string, seed: number, commit: string | null): void;
  say(line: string): void;
}

/** Makes {@link Context.seedLoop}. */
export function createSeedLoop(setup: SeedLoopSetup): Context['seedLoop'] {
  return async <T>(label: string, work: (seed: number, place: SeedPlace) => T | Promise<T>) => {
    const results: T[] = [];
    for (const seed of setup.seeds) results.push(await oneSeed(setup, label, seed, work));
    return results;
  };
}

async function oneSeed<T>(
  setup: SeedLoopSetup,
  label: string,
  seed: number,
  work: (seed: number, place: SeedPlace) => T | Promise<T>,
): Promise<T> {
  const { seeds, isResume, commit, ran, say } = setup;
  const stem = join(setup.directory, `${fileName(label)}-seed-${seed}`);
  const identity = { ...setup.identity, label, seed };
  const title = `${label}, seed ${seed} of ${seeds[0]} to ${seeds.at(-1)}`;
  const kept = isResume ? finished(`${stem}.json`, identity) : undefined;
  if (kept) {
    say(`${title}: was finished before, at commit ${kept.commit ?? 'unknown'}`);
    ran(label, seed, kept.commit ?? null);
    return kept.data as T;
  }
  say(title);
  const start = performance.now();
  const data = await work(seed, { directory: stem, mayResume: isResume, log: [progress(), jsonLines(stem)] });
  if (data === null) return data; // left out: another call may want it
  writeExact(`${stem}.json`, { identity, commit, data });
  ran(label, seed, commit);
  say(`${title}: took ${spoken((performance.now() - start) / 60_000)}`);
  return (readExact(`${stem}.json`) as { data: T }).data; // as a resumed loop would return it
}

/** The content of a seed's raw file. */
interface Kept {
  readonly identity: Identity;
  readonly commit?: string | null;
  readonly data: unknown;
}

function finished(path: string, identity: Identity): Kept | undefined {
  const kept = readExact(path) as Kept | undefined;
  return kept && kept.data !== null && isDeepStrictEqual(kept.identity, identity) ? kept : undefined;
}

function fileName(label: string): string {
  return label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
