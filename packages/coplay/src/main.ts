import { CoplayError, show } from '@coplay/core';
import { checkArgument, checkFunction } from '@coplay/core/checks';
import { runtimeVersions } from '@coplay/trainers/checkpoint';
import { z } from 'zod';
import { type Command, EXIT, helpOf, parse, type Terminal, UsageError } from './command';
import { crossPlayCommand } from './commands/cross-play';
import { evaluateCommand } from './commands/evaluate';
import { exportCommand } from './commands/export';
import { inspectCommand } from './commands/inspect';
import { newCommand } from './commands/new';
import { playCommand } from './commands/play';
import { recordCommand } from './commands/record';
import { reportCommand } from './commands/report';
import { resumeCommand } from './commands/resume';
import { sweepCommand } from './commands/sweep';
import { trainCommand } from './commands/train';
import { workerCommand } from './commands/worker';
import { zooCommand } from './commands/zoo';

const COMMANDS: Readonly<Record<string, Command>> = {
  train: trainCommand,
  resume: resumeCommand,
  sweep: sweepCommand,
  evaluate: evaluateCommand,
  'cross-play': crossPlayCommand,
  record: recordCommand,
  report: reportCommand,
  export: exportCommand,
  inspect: inspectCommand,
  play: playCommand,
  worker: workerCommand,
  new: newCommand,
  zoo: zooCommand,
};

/**
 * Runs a command line: `runCommand(['report', 'runs/a'], terminal)`.
 *
 * @param args  without node and the script
 * @returns the exit code: 0 for success, 1 where the input or the work was wrong, 2 for a wrong command line, 130 where
 *          it was interrupted
 */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  checkArgument('runCommand', 'args', z.array(z.string()), args);
  for (const method of ['out', 'err', 'interrupt'] as const) {
    checkFunction('runCommand', `terminal.${method}`, terminal?.[method]);
  }
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.out(overview());
    return name === undefined ? EXIT.usage : EXIT.ok;
  }
  if (name === '--version' || name === '-v') {
    const versions = runtimeVersions();
    terminal.out(rest.includes('--json') ? JSON.stringify(versions) : versions['coplay']);
    return EXIT.ok;
  }
  const chosen = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!chosen) {
    terminal.err(`There is no command ${name}. Commands: ${Object.keys(COMMANDS).join(', ')}. Help: coplay --help`);
    return EXIT.usage;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out(helpOf(chosen));
    return EXIT.ok;
  }
  return perform(name, chosen, rest, terminal);
}

async function perform(name: string, chosen: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const { words, flags } = parse(chosen, args);
    return await chosen.run(words, flags, terminal);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`${error.message}\nHelp: coplay ${name} --help`);
      return EXIT.usage;
    }
    // An error that the caller can mend needs no stack trace.
    terminal.err(error instanceof CoplayError ? error.message : traceOf(name, error));
    return EXIT.failed;
  }
}

/** Anything may be thrown by a configuration of code. */
function traceOf(name: string, error: unknown): string {
  if (!(error instanceof Error)) return `coplay ${name}: thrown was ${show(error)}, which is no error.`;
  if (!isOfSystem(error)) return error.stack ?? error.message;
  return `coplay ${name}: expected files and folders that can be read and written, got ${error.message}. Check the path.`;
}

/** Whether files or the like refused something: the message names it. */
function isOfSystem(error: NodeJS.ErrnoException): boolean {
  return error.syscall !== undefined && error.code !== undefined;
}

function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    'coplay COMMAND ...',
    '',
    ...lines,
    '',
    'Help of a command: coplay COMMAND --help. The version: coplay --version',
  ].join('\n');
}
