import { checkOptions, fail, type LogEntry, type RunInfo, show } from '@coplay/core';
import { checkMetrics, checkNumber, checkRecord, checkText } from '@coplay/core/checks';
import { z } from 'zod';

/** Options that the logs which write files share. */
export interface FileLogOptions {
  /** Receives a message about each repair when a run goes on in the directory of a killed run. Default: console.warn */
  readonly warn?: (message: string) => void;
}

const schema = z
  .object({
    warn: z.custom<(message: string) => void>(isFunction, 'a function of a message').default(() => console.warn),
  })
  .strict();

/** Whether a value can be called; for zod's `custom`. */
export function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** Checks the arguments of a log that writes files. */
export function checkFileLog(where: string, directory: string, options: unknown): z.infer<typeof schema> {
  checkDirectory(where, directory);
  return checkFileLogOptions(where, options);
}

/** Checks the options alone. */
export function checkFileLogOptions(where: string, options: unknown): z.infer<typeof schema> {
  return checkOptions(where, schema, options);
}

/** Refuses a value that isn't the path of a directory. */
export function checkDirectory(where: string, directory: string): void {
  if (typeof directory !== 'string' || directory === '') {
    fail(where, 'the path of a directory', show(directory), "Give one, such as 'runs/ppo'.");
  }
}

/** Refuses an entry that comes before `start` or after `close`. */
export function notStarted(where: string): never {
  fail(`${where}.write`, 'a log that was started', 'one that was not, or is closed', 'Call start(info) first.');
}

/** The step that a run starts from. @throws CoplayError for an `info` without a whole number there */
export function checkStart(where: string, info: Pick<RunInfo, 'startedAt'>): number {
  checkRecord(`${where}.start`, 'info', info);
  checkNumber(`${where}.start`, 'startedAt', info.startedAt, { min: 0, whole: true });
  return info.startedAt;
}

/** Name and configuration, for logs that keep them. @throws CoplayError for an `info` without one of them */
export function checkDescription(where: string, { name, config }: Pick<RunInfo, 'name' | 'config'>): void {
  checkText(`${where}.start`, 'name', name);
  checkRecord(`${where}.start`, 'config', config);
}

/**
 * An entry that every log can hold: whole numbers of steps and updates, and metrics that are numbers. Metrics that are
 * undefined weren't measured, and are left out.
 *
 * @throws CoplayError that names the metric whose value is no number, or the count that is no whole number
 */
export function checkEntry(where: string, entry: LogEntry): LogEntry {
  checkRecord(`${where}.write`, 'entry', entry);
  const { envSteps, update, metrics } = entry;
  for (const [name, count] of Object.entries({ envSteps, update })) {
    if (Number.isSafeInteger(count) && count >= 0) continue;
    fail(`${where}.write: ${name}`, 'a whole number from 0 to 2^53 - 1', show(count), 'Count steps and updates.');
  }
  const measured = checkMetrics(`${where}.write`, metrics);
  for (const name of Object.keys(measured)) {
    // Files in UTF-8 hold no halves of surrogate pairs: two names would become one.
    if (name === '' || name === 'envSteps' || name === 'update' || /\p{Cs}/u.test(name)) {
      fail(`${where}.write`, 'names of metrics such as policy/loss', show(name), 'Rename the metric.');
    }
  }
  return { envSteps, update, metrics: measured };
}
