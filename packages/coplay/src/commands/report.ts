import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ReportOptions, writeReport } from '@coplay/diagnostics';
import { answer, command, EXIT, JSON_FLAG, type Terminal, textOf, wholeNumber } from '../command';

/** Seconds that a timer of Node can wait: those in 2^31 - 1 milliseconds. */
const LONGEST = 2_147_483;

/** `coplay report` */
export const reportCommand = command({
  usage: 'report RUN... [--out FILE] [--watch]',
  summary: 'Writes one HTML file about one run or several: what looks wrong, curves, every metric, settings.',
  words: { least: 1, most: Number.POSITIVE_INFINITY },
  flags: {
    out: { value: 'FILE', what: "where to; default: report.html in the run's directory, or here for several runs" },
    title: { value: 'TEXT', what: 'heading of the page' },
    watch: { what: 'write it again whenever a log grows, until Ctrl-C; the open page loads itself again' },
    every: { value: 'N', what: 'seconds between looks at the logs; default 10' },
    ...JSON_FLAG,
  },
  async run(runs, flags, terminal) {
    const file = textOf(flags, 'out') ?? (runs.length === 1 ? join(runs[0], 'report.html') : 'report.html');
    const seconds = wholeNumber(flags, 'every', 1, LONGEST) ?? 10;
    const title = textOf(flags, 'title');
    const options = { ...(title !== undefined && { title }), refreshSeconds: flags['watch'] ? seconds : 0 };
    writeReport(file, runs, options);
    answer(terminal, flags, { report: resolve(file) }, () => resolve(file));
    if (flags['watch']) await watch(file, runs, options, terminal);
    return EXIT.ok;
  },
});

/**
 * Writes the page again when a log has changed, until it's interrupted; the last one doesn't refresh itself any more.
 */
async function watch(file: string, runs: readonly string[], options: ReportOptions, terminal: Terminal): Promise<void> {
  const signal = terminal.interrupt();
  terminal.err('Watching the logs; Ctrl-C ends it.');
  let seen = stamp(runs);
  while (!signal.aborted) {
    await sleep(1000 * options.refreshSeconds!, undefined, { signal }).catch(() => undefined);
    const now = stamp(runs);
    if (signal.aborted || now === seen) continue;
    writeReport(file, runs, options);
    seen = now;
  }
  writeReport(file, runs, { ...options, refreshSeconds: 0 });
}

/** Changes when a log does. */
function stamp(runs: readonly string[]): string {
  const files = runs.flatMap((run) => [join(run, 'log.jsonl'), join(run, 'report.json')]).filter(existsSync);
  return files.map((file) => `${statSync(file).size} ${statSync(file).mtimeMs}`).join();
}
