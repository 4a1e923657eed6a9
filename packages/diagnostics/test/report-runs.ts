import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a written run holds: metrics by update, counted from 0. */
export interface WrittenRun {
  readonly name?: string;
  readonly seed?: number;
  readonly updates?: number;
  /** Of the only learner's algorithm. */
  readonly gamma?: number;
  readonly metrics: (update: number) => Readonly<Record<string, number>>;
}

const AGENTS = ['agent_0', 'agent_1'];

/** Directories of runs as selfPlay and jsonLines leave them, in one new folder. */
export function writeRuns(runs: readonly WrittenRun[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'coplay-report-'));
  return runs.map(({ name, seed = 1, updates = 50, gamma = 0.99, metrics }, i) => {
    const directory = join(folder, name ?? `run-${i + 1}`);
    mkdirSync(directory);
    const learners = Object.fromEntries(AGENTS.map((id) => [id, { ids: [id], algorithm: 'ppo', gamma }]));
    const agents = Object.fromEntries(AGENTS.map((id) => [id, 'PPO']));
    const config = { game: { name: 'a <game>', options: { size: 4 }, agents: AGENTS }, seed, agents, learners };
    writeFileSync(join(directory, 'config.json'), JSON.stringify(config));
    const rows = Array.from({ length: updates }, (_, u) => ({ envSteps: 100 * (u + 1), update: u + 1, ...metrics(u) }));
    writeFileSync(join(directory, 'log.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return directory;
  });
}
