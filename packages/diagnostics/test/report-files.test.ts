import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { report } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';

const ATTACK = '<img src=x onerror=alert(1)>';
const folder = mkdtempSync(join(tmpdir(), 'coplay-report-files-'));
const histogram = { edges: [0, 1], counts: [2] };
const distribution = { count: 2, mean: 1, min: 0, max: 2, histogram };
const scored = { name: 'up', count: 2, recall: 1, precision: 1, f1: 1 };
const moa = { count: 2, top1: 1, top3: 1, balancedAccuracy: 1, classes: [scored], confusion: [[2]] };

/** A run directory with these files and a short log. */
function run(files: Readonly<Record<string, unknown>>): string {
  const directory = mkdtempSync(join(folder, 'run-'));
  const all = { 'config.json': { seed: 1 }, 'log.jsonl': { envSteps: 1, update: 1, 'policy/loss': 1 }, ...files };
  for (const [name, value] of Object.entries(all)) writeFileSync(join(directory, name), JSON.stringify(value));
  return directory;
}

describe('numbers of report.json are numbers, or the file is refused by name', () => {
  it.each<[string, object]>([
    ['f1', { moa: { a: { ...moa, classes: [{ ...scored, f1: ATTACK }] } } }],
    ['precision', { moa: { a: { ...moa, classes: [{ ...scored, precision: ATTACK }] } } }],
    ['recall', { moa: { a: { ...moa, classes: [{ ...scored, recall: ATTACK }] } } }],
    ['top1', { moa: { a: { ...moa, top1: ATTACK } } }],
    ['top3', { moa: { a: { ...moa, top3: ATTACK } } }],
    ['balancedAccuracy', { moa: { a: { ...moa, balancedAccuracy: ATTACK } } }],
    ['confusion', { moa: { a: { ...moa, confusion: [[ATTACK]] } } }],
    ['confusion', { moa: { a: { ...moa, confusion: [[1], [1]] } } }],
    ['count', { distributions: { a: { real: { ...distribution, count: ATTACK }, imagined: distribution } } }],
    ['edges', { distributions: { a: { real: { ...distribution, histogram: { edges: [ATTACK], counts: [1] } } } } }],
    ['belief', { beliefs: { a: { b: { steps: [0], belief: [ATTACK] } } } }],
    ['switches', { beliefs: { a: { b: { steps: [0], belief: [1], switches: [ATTACK] } } } }],
    ['tables', { tables: { a: [{ b: { markup: ATTACK } }] } }],
    ['heatMaps', { heatMaps: { a: { rows: ['b'], columns: ['c'], values: [[{ markup: ATTACK }]] } } }],
  ])('%s', (name, extras) => {
    expect(() => report([run({ 'report.json': extras })])).toThrow(name);
  });

  it.each([
    ['"top1":1', '"top1":1e999', 'top1'],
    ['"a":', '"__proto__":', 'report.json: option moa: expected known options only, got the name "__proto__"'],
    ['"moa":', '"__proto__":', '__proto__'],
    ['"count":2', `"count":"${'x'.repeat(100_000)}"`, 'count'],
  ])('also %s, case %#', (good, bad, message) => {
    const directory = run({});
    writeFileSync(join(directory, 'report.json'), JSON.stringify({ moa: { a: moa } }).replace(good, bad));
    expect(() => report([directory])).toThrow(message);
  });

  it('as they are in a good file, which is shown', () => {
    const good = { moa: { a: moa }, distributions: { a: { real: distribution, imagined: distribution } } };
    expect(report([run({ 'report.json': good })])).toContain('By action');
  });
});

it.each([['config.json'], ['versions.json']])('%s that is no object is refused', (name) => {
  for (const value of [[1], 'text', 3, null]) expect(() => report([run({ [name]: value })])).toThrow(name);
});

it.each([[{}], [1], [null]])('versions.json with %j for a version is refused', (version) => {
  expect(() => report([run({ 'versions.json': { node: version } })])).toThrow('versions.json: node: expected a text');
});

it('a page allows its own styles and scripts by their hashes, and nothing else', () => {
  const page = report([run({ 'config.json': { seed: 1, name: ATTACK } })]);
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!;
  expect(policy).not.toContain('unsafe');
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const texts = (tag: string) =>
    [...page.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, text]) => text!);
  expect(policy).toContain(`style-src ${texts('style').map(hash).join(' ')};`);
  expect(policy).toContain(`script-src ${texts('script').map(hash).join(' ')};`);
  expect(page).not.toMatch(/ style="| on[a-z]+="|<img/);
});
