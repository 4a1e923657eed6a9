import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSettings } from '../../bench/harness/command-line';
import { makePage } from '../../bench/harness/page';
import { makeResults, type Results } from '../../bench/harness/results';
import { sourceVersion } from '../../bench/harness/sources';
import { compareResults } from '../../bench/harness/stale';
import { study as toy } from './fixtures/toy';

const folder = join(import.meta.dirname, 'fixtures');
const sources = sourceVersion(join(folder, 'toy.ts'), join(folder, '..'));

function newPlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'coplay-results-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

/** The problems of the toy's results after a change to them. */
async function problems(change: (results: Results) => Partial<Results>, { name = 'toy', page = '' } = {}) {
  const run = { command: 'npm run study -- toy', seconds: 1, commit: 'abc', sources, seedCommits: {} };
  const outcome = { figures: {}, bars: { sum: 6, largest: 3 } };
  const results = makeResults(toy, readSettings(toy, []), outcome, run);
  const changed = { ...results, ...change(results) };
  const place = newPlace();
  writeFileSync(join(place, `${name}.json`), JSON.stringify(changed));
  writeFileSync(join(place, 'toy.md'), makePage(results, [page]));
  const found = await compareResults({ kind: 'study', folder, results: place });
  return found.find((one) => one.name === name)!.problems;
}

describe('results', () => {
  it('that are of the study as it is have no problem', async () => {
    expect(await problems(() => ({}))).toEqual([]);
  });

  it('without a study, and studies without results, are named', async () => {
    expect(await problems(() => ({}), { name: 'toy-old' })).toEqual(['there is no study of this name']);
    const found = await compareResults({ kind: 'study', folder, results: newPlace() });
    expect(found.map(({ name }) => name)).toEqual(['broken', 'toy']);
    expect(found[1].problems).toEqual(['it has no committed results']);
  });

  it.each<[string, (results: Results) => Partial<Results>]>([
    ['its code has changed', () => ({ sources: '0' })],
    ['the bar sum has no result', ({ bars: { sum: _, ...rest } }) => ({ bars: rest })],
    ['bars that are gone: more', ({ bars }) => ({ bars: { ...bars, more: bars['sum'] } })],
    [
      'sum was judged by at least 5, now at least 6',
      ({ bars }) => ({ bars: { ...bars, sum: { ...bars['sum'], bar: 5 } } }),
    ],
    ['sum was described as "a sum"', ({ bars }) => ({ bars: { ...bars, sum: { ...bars['sum'], what: 'a sum' } } })],
    ['uncommitted changes at abc', () => ({ commit: 'abc+', leftOut: ['uncommitted changes at abc'] })],
    [
      'options were factor, now factor, weights',
      ({ settings }) => ({ settings: { ...settings, options: { factor: '1' } } }),
    ],
    [
      '--factor is 2, by default 1',
      ({ settings }) => ({ settings: { ...settings, options: { factor: '2', weights: '1,1' } } }),
    ],
    ['seeds are 1 to 2, by default 1 to 3', ({ settings }) => ({ settings: { ...settings, seeds: 2 } })],
    ['they are of a quick run', ({ settings }) => ({ settings: { ...settings, quick: true } })],
  ])('%s', async (problem, change) => {
    expect(await problems(change)).toContain(problem);
  });

  it('whose page has other bars, or lacks a figure, are named', async () => {
    const other = ({ bars }: Results) => ({ bars: { ...bars, sum: { ...bars['sum'], value: 7 } } });
    expect(await problems(other)).toEqual(['toy.md has other bars']);
    expect(await problems(() => ({}), { page: '![all](toy-all.svg)' })).toEqual(['the figure toy-all.svg is missing']);
  });
});

describe('the version of code', () => {
  const place = () => {
    const top = newPlace();
    cpSync(join(folder, 'toy.ts'), join(top, 'studies/toy.ts'), { recursive: true });
    return top;
  };
  const versionOf = (top: string, text: string) => {
    writeFileSync(join(top, 'studies/toy.ts'), text);
    return sourceVersion(join(top, 'studies/toy.ts'), top);
  };

  it('does not depend on comments, layout, types and texts for people', () => {
    const top = place();
    const version = versionOf(top, "import type { A } from './a';\nexport const x: A = f('one run', [1, 2]);");
    expect(versionOf(top, "/** X. */\nexport const x = f(\n  'a run', // more\n  [1, 2,],\n);")).toBe(version);
  });

  it('depends on everything else, in imported files also', () => {
    const top = place();
    const text = "import { y } from './toy/y';\nexport const x = y + 1;";
    mkdirSync(join(top, 'studies/toy'));
    writeFileSync(join(top, 'studies/toy/y.ts'), 'export const y = 1;');
    const version = versionOf(top, text);
    expect(versionOf(top, text.replace('+ 1', '+ 2'))).not.toBe(version);
    writeFileSync(join(top, 'studies/toy/y.ts'), "export const y = 'a';");
    expect(versionOf(top, text)).not.toBe(version);
    const named = versionOf(top, text);
    writeFileSync(join(top, 'studies/toy/y.ts'), readFileSync(join(top, 'studies/toy/y.ts'), 'utf8').replace('a', 'b'));
    expect(versionOf(top, text)).not.toBe(named);
  });
});
