import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Experiment } from './experiment';

/** The requests of a command line. */
export interface Settings {
  readonly isQuick: boolean;
  /** Number of seeds. */
  readonly seeds: number;
  /** The first of them. Default 1 */
  readonly firstSeed: number;
  readonly isResume: boolean;
  readonly withPython: boolean;
  /** Folders given with --peer: checkouts of peers that no registry has. */
  readonly peerFolders: readonly string[];
  /** Given with --out. */
  readonly out: string | undefined;
  /** The experiment's own options. */
  readonly options: Readonly<Record<string, string>>;
}

/** A command line that can't be followed; the message is for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Options that all experiments share, as --help shows them. */
export const SHARED_OPTIONS = [
  '--quick         everything runs, in seconds to a minute; no bar is judged',
  '--seeds N       number of seeds; with fewer than the default all bars are missing',
  '--first-seed N  seeds from N on (default 1); their results stay in a folder of their own, and all bars are missing',
  '--resume        go on where it was broken off: finished seeds are not done again',
  '--out DIR       where raw data, table and figure go (default: runs/)',
  '--peer python   with the peers in Python, where they are installed',
  '--peer DIR      with the peer in this checkout too, where an experiment has such a peer',
];

/** Reads the arguments behind the experiment's name. @throws UsageError */
export function readSettings(experiment: Experiment, args: readonly string[]): Settings {
  const { options: own = {}, seeds: byDefault } = experiment;
  const values = parse(experiment, args);
  const peers = (values['peer'] ?? []) as string[];
  return {
    isQuick: values['quick'] === true,
    isResume: values['resume'] === true,
    withPython: peers.includes('python'),
    peerFolders: peers.filter((peer) => peer !== 'python').map(checkFolder),
    seeds: readCount('--seeds', values['seeds']) ?? (values['quick'] === true ? Math.min(2, byDefault) : byDefault),
    firstSeed: readCount('--first-seed', values['first-seed']) ?? 1,
    out: values['out'] as string | undefined,
    options: Object.fromEntries(
      Object.entries(own).map(([name, option]) => [name, (values[name] as string | undefined) ?? option.default]),
    ),
  };
}

function parse(
  experiment: Experiment,
  args: readonly string[],
): Record<string, string | boolean | (string | boolean)[] | undefined> {
  const text = { type: 'string' } as const;
  const texts = { type: 'string', multiple: true } as const;
  const flag = { type: 'boolean' } as const;
  const own = Object.keys(experiment.options ?? {}).map((name) => [name, text] as const);
  const shared = { quick: flag, resume: flag, seeds: text, 'first-seed': text, out: text, peer: texts };
  const options = { ...shared, ...Object.fromEntries(own) };
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new UsageError(`${(error as Error).message}\nThe options of ${experiment.name} are: ${known.join(', ')}`);
  }
}

function checkFolder(path: string): string {
  if (!existsSync(path)) throw new UsageError(`--peer: expected python, or the folder of a checkout, got ${path}`);
  return path;
}

function readCount(option: string, given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError(`${option}: expected a whole number of at least 1, got ${given}`);
  return count;
}
