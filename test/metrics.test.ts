import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log, LogEntry } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { ppoAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { filesUnder, root, workspaces } from '../scripts/lib/workspaces';

/** Keys of the first column of every table, such as `policy/loss` or `episode/return/<agent id>`. */
function documentedKeys(): string[] {
  const page = readFileSync(join(root, 'docs/metrics.md'), 'utf8');
  const cells = page.split('\n').flatMap((line) => /^\| (`[^|]*`) \|/.exec(line)?.[1] ?? []);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
}

/** `episode/return/<agent id>` as a pattern: a name in `<>` stands for any one part. */
function patternOf(key: string): RegExp {
  return new RegExp(`^${key.replace(/<[^>]+>/g, '[^/]+')}$`);
}

const game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2, maxSteps: 8 });
const written: LogEntry[] = [];
const log: Log = { start() {}, write: (entry) => written.push(entry), close() {} };

beforeAll(async () => {
  const agents = game.agents.map((id) => ppoAgent({ game, id, network: mlp({ hidden: [8] }) }));
  const run = selfPlay({ game, agents, envs: 4, steps: 16, seed: 1, log: [log] });
  await run.train({ envSteps: 128 });
  run.dispose();
});

describe('metrics', () => {
  it('that a run logs are on their page, under the learner or without one', () => {
    const patterns = documentedKeys().map(patternOf);
    const logged = new Set(written.flatMap(({ metrics }) => Object.keys(metrics)));
    const plain = [...logged].map((key) => key.replace(/^agent_\d\//, ''));
    expect(written.length).toBe(2);
    expect(plain.filter((key) => !patterns.some((pattern) => pattern.test(key)))).toEqual([]);
  });

  it('on the page are logged somewhere', () => {
    const files = workspaces().flatMap(({ folder }) => filesUnder(`${folder}/src`, '.ts'));
    const source = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    const fixed = documentedKeys().map((key) => key.split('<')[0]!);
    expect(fixed.length).toBeGreaterThan(0);
    const logged = new Set(written.flatMap(({ metrics }) => Object.keys(metrics)));
    expect(fixed.filter((key) => ![...logged].some((k) => k.startsWith(key)) && !source.includes(key))).toEqual([]);
  });
});
