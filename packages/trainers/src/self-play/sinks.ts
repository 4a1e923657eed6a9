import { CoplayError, type Log, type LogEntry, type RunInfo } from '@coplay/core';
import { codeOf } from '@coplay/core/node';

/** Lines of one log that could not be written. */
interface Gap {
  /** All of them. */
  lines: number;
  /** Whether the last line failed. */
  isOpen: boolean;
  reason: string;
}

/**
 * The logs of a run, each awaited. A line that the system refuses (a full disk) doesn't end the run: there is one
 * warning, the next line is tried again, and missing lines are reported at the end. Any other error is one of the log's
 * own code, and ends the run.
 */
export class Sinks {
  private readonly gaps = new Map<number, Gap>();

  constructor(
    private readonly log: readonly Log[],
    private readonly warn: (line: string) => void,
  ) {}

  async start(info: RunInfo): Promise<void> {
    for (const sink of this.log) await sink.start(info);
  }

  async write(entry: LogEntry): Promise<void> {
    for (const [i, sink] of this.log.entries()) {
      try {
        await sink.write({ ...entry, metrics: { ...entry.metrics } }); // copies: no log sees another's changes
        this.goesOn(i);
      } catch (error) {
        if (!isOfSystem(error)) throw error;
        this.misses(i, String(error instanceof Error ? error.message : error));
      }
    }
  }

  /** Closes all, also where one fails; the first failure is thrown. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const sink of this.log) {
      try {
        await sink.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** The gaps in the logs, a line for each log with gaps. */
  missing(): string[] {
    return [...this.gaps].map(([i, { lines, reason }]) => `Log ${i + 1} misses ${lines} lines. ${reason}`);
  }

  private misses(i: number, reason: string): void {
    const gap = this.gaps.get(i) ?? { lines: 0, isOpen: false, reason };
    if (!gap.isOpen) this.warn(`Training goes on without lines of log ${i + 1}; each next line is tried. ${reason}`);
    this.gaps.set(i, { lines: gap.lines + 1, isOpen: true, reason });
  }

  private goesOn(i: number): void {
    const gap = this.gaps.get(i);
    if (gap === undefined || !gap.isOpen) return;
    gap.isOpen = false;
    this.warn(`Log ${i + 1} is written again; ${gap.lines} lines of it are missing.`);
  }
}

/** Whether the system refused something, which may pass. */
function isOfSystem(error: unknown): boolean {
  return codeOf(error) !== '' || (error instanceof CoplayError && codeOf(error.cause) !== '');
}
