import { parseArgs } from 'node:util';
import { fail } from '@coplay/core';

/** Where a command writes, and how it's told to stop. */
export interface Terminal {
  /** A line for the reader of the result. */
  out(line: string): void;
  /** A line about what goes on, or went wrong. */
  err(line: string): void;
  /** Is aborted when the command is to stop in good order; called once, by commands that last. */
  interrupt(): AbortSignal;
}

/** One flag of a command. */
interface Flag {
  readonly what: string;
  /** Whether it takes a value, and what that's called in the help: `N`, `FILE`. Default: none */
  readonly value?: string;
  /** Whether it may be given several times. Default false */
  readonly isMany?: boolean;
}

/** A command. */
export interface Command<Name extends string = string> {
  /** `report RUN...` */
  readonly usage: string;
  readonly summary: string;
  readonly flags: Readonly<Record<Name, Flag>>;
  /** The number of words that it takes, without flags. */
  readonly words: { readonly least: number; readonly most: number };
  /** @returns the exit code */
  run(words: readonly string[], flags: Flags<Name>, terminal: Terminal): Promise<number>;
}

/** What flags were given: text, or whether it's there; of one that may be given several times, all texts. */
export type Flags<Name extends string = string> = Readonly<Partial<Record<Name, string | boolean | readonly string[]>>>;

/** The flag of every command. */
export const JSON_FLAG = { json: { what: 'the result as JSON, on one line' } } as const;

/** Prints a result: as JSON with `--json`, else as text. */
export function answer({ out }: Terminal, flags: Flags, result: object, text: () => string): void {
  out(flags['json'] === true ? JSON.stringify(result) : text());
}

/** A wrong command line: exit code 2. */
export class UsageError extends Error {}

/** Exit codes. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Keeps the names of a command's flags as types. */
export function command<Name extends string>(one: Command<Name>): Command {
  return one as unknown as Command;
}

/** Takes a command line apart. @throws UsageError that names the fault */
export function parse({ flags, words, usage }: Command, args: readonly string[]): { words: string[]; flags: Flags } {
  const types = Object.entries(flags).map(([name, { value, isMany = false }]) => [
    name,
    { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: isMany },
  ]);
  // Not strictly: errors have our own words.
  const options = { options: Object.fromEntries(types), allowPositionals: true, strict: false, tokens: true } as const;
  const { tokens, positionals, values } = parseArgs({ args: [...args], ...options });
  for (const token of tokens) if (token.kind === 'option') checkFlag(flags, usage, token);
  if (positionals.length < words.least) throw new UsageError(`Something is missing: coplay ${usage}`);
  if (positionals.length > words.most) {
    throw new UsageError(`Too many words (${positionals.join(' ')}): coplay ${usage}`);
  }
  return { words: positionals, flags: values as Flags };
}

/** A flag as it was given. */
interface GivenFlag {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function checkFlag(flags: Command['flags'], usage: string, { name, rawName, value, inlineValue }: GivenFlag): void {
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (!flag) {
    const all = [...Object.keys(flags), 'help'].map((known) => `--${known}`).join(', ');
    throw new UsageError(`There is no flag ${rawName}. Flags of coplay ${usage.split(' ')[0]}: ${all}.`);
  }
  const isMissing = value === undefined || (inlineValue === false && value.startsWith('-'));
  if (flag.value !== undefined && isMissing) throw new UsageError(`--${name} needs a value: --${name} ${flag.value}`);
  if (flag.value === undefined && value !== undefined) throw new UsageError(`--${name} takes no value.`);
}

/** The help of a command. */
export function helpOf({ usage, summary, flags }: Command): string {
  const rows = Object.entries(flags).map(([name, { value, what }]) => [`--${name}${value ? ` ${value}` : ''}`, what]);
  const all = [...rows, ['--help', 'this page']];
  const width = Math.max(...all.map(([flag]) => flag.length));
  return [`coplay ${usage}`, '', summary, '', ...all.map(([flag, what]) => `  ${flag.padEnd(width)}  ${what}`)].join(
    '\n',
  );
}

/** The whole number of a flag, from `least` to `most`. @throws CoplayError for something else */
export function wholeNumber(flags: Flags, name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const number = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  return fail(`--${name}`, `a whole number from ${least} to ${most}`, String(text), `Write it in digits: --${name} 10`);
}

/** The text of a flag. */
export function textOf(flags: Flags, name: string): string | undefined {
  const text = flags[name];
  return typeof text === 'string' ? text : undefined;
}

/** All texts of a flag that may be given several times. */
export function textsOf(flags: Flags, name: string): readonly string[] {
  const texts = flags[name];
  return Array.isArray(texts) ? texts : [];
}
