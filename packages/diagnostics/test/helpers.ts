import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogEntry, Metrics, RunInfo } from '@coplay/core';
import { onTestFinished } from 'vitest';

/** A fresh directory that is removed after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coplay-diagnostics-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** What a log is told at a start. */
export function runInfo(startedAt = 0): RunInfo {
  return { name: 'stag-hunt', config: { size: 4 }, envSteps: 1000, startedAt };
}

/** The entry of update n, 100 steps each. */
export function entry(update: number, metrics: Metrics): LogEntry {
  return { envSteps: update * 100, update, metrics };
}
