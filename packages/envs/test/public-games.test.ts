import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPython, runPython } from '../../../bench/harness/python';
import { COMPARISONS, expectSameEpisode, recordedCases, SCRIPT } from './recorded';

// Other episodes than the recorded ones. The environment variable PYTHON names an interpreter with the packages, which
// data/record_episodes.py lists.
describe.each(Object.entries(COMPARISONS))('%s, played by Python now', (kind, { modules }) => {
  const python = findPython(modules);
  const why = 'missing' in python ? `skipped: ${python.missing}` : python.command;

  it.skipIf('missing' in python || kind === 'overcooked_old')(
    `plays as its public package (${why})`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'coplay-public-games-'));
      try {
        const { command } = python as { command: string };
        await runPython(command, ['-W', 'ignore', SCRIPT, kind, '--seed', '1', '--out', folder]);
        const cases = recordedCases(kind, folder);
        expect(cases.length).toBeGreaterThan(1);
        for (const [name, recorded] of cases) expectSameEpisode(kind, name, recorded);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    60_000,
  );
});
