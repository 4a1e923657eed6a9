import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matrixGame } from '@coplay/envs';
import { memoryOneAgent, selfPlay } from '@coplay/trainers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { coplay, written } from './command-line';

const folder = mkdtempSync(join(tmpdir(), 'coplay-cross-play-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [nice, mean, script] = ['nice', 'mean', 'script'].map((name) => join(folder, name));
const game = { name: 'matrix', kind: 'prisoners-dilemma', maxSteps: 4 };

/** Cooperates, or defects, after any round. */
const logits = (cooperates: boolean) => new Array<number>(5).fill(cooperates ? 40 : -40);

beforeAll(async () => {
  for (const [directory, cooperates] of [
    [nice, true],
    [mean, false],
  ] as const) {
    const agents = { kind: 'memory-one', parameters: logits(cooperates) };
    const path = written(folder, { game, agents, envs: 1, steps: 4, envSteps: 4, log: [] });
    expect(await coplay(['train', path, '--directory', directory])).toMatchObject({ code: 0 });
  }
  const own = matrixGame({ kind: 'prisoners-dilemma', maxSteps: 4 });
  const agents = own.agents.map((id) => memoryOneAgent({ game: own, id, parameters: Float64Array.from(logits(true)) }));
  await selfPlay({ game: own, agents, directory: script }).save();
});

it('prints returns of pairs, the gap, ratings and exploitability, and a heat map in a report', async () => {
  const report = join(folder, 'cross-play.html');
  const { code, out, err } = await coplay(['cross-play', nice, mean, '--episodes', '2', '--report', report]);
  expect([code, err]).toEqual([0, `Report: ${report}`]);
  expect(out).toMatch(/policy .*rating.*best response.*gain.*exploitability/);
  expect(out).toContain('Self-play ');
  expect(existsSync(report)).toBe(true);
  expect(readFileSync(report, 'utf8')).toContain('heat-map');
});

it('gives the same as JSON, for runs of scripts too', async () => {
  const { code, out } = await coplay(['cross-play', script, mean, '--episodes', '2', '--json', '--seats', 'agent_1']);
  expect(code).toBe(0);
  const found = JSON.parse(out);
  const [own, others] = [found.matrix[0][0], found.matrix[1][0]].map(({ value }) => value.value);
  expect(others).toBeGreaterThan(own);
  expect(found.ratings[mean].value).toBeGreaterThan(1500);
  // Defectors are in an equilibrium; each cooperator would gain by defecting.
  expect(found.nashConv[mean]).toBe(0);
  expect(found.nashConv[script]).toBe(2 * (others - own));
});

it('refuses one run twice', async () => {
  const ended = await coplay(['cross-play', nice, mean, `${nice}/.`]);
  expect([ended.code, ended.err]).toEqual([1, expect.stringContaining(`got ${nice}/. twice`)]);
});

it('refuses runs of different games, by name', async () => {
  const longer = join(folder, 'longer');
  const agents = { kind: 'random' };
  const path = written(folder, { game: { ...game, maxSteps: 5 }, agents, envs: 1, steps: 5, envSteps: 5, log: [] });
  await coplay(['train', path, '--directory', longer]);
  const ended = await coplay(['cross-play', nice, longer]);
  expect(ended.code).toBe(1);
  expect(ended.err).toContain(
    `expected matrix-prisoners-dilemma with maxSteps 4, as in ${nice}, got matrix-prisoners-dilemma with maxSteps 5 in ${longer}.`,
  );
  const other = join(folder, 'other');
  const hunt = written(folder, {
    game: { name: 'stag-hunt', size: 3, agents: 2, stags: 1, hares: 1 },
    ...{ agents, envs: 1, steps: 4, envSteps: 4, log: [] },
  });
  await coplay(['train', hunt, '--directory', other]);
  expect((await coplay(['cross-play', nice, other])).err).toContain(
    `expected matrix-prisoners-dilemma, as in ${nice}, got stag-hunt in ${other}.`,
  );
});
