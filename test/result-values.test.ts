import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fillResults } from '../scripts/lib/result-values';
import { root } from '../scripts/lib/workspaces';

interface Contrastive {
  readonly figures: {
    readonly results: Record<string, Record<string, { readonly oneStep: number; readonly openLoop: number[] }[]>>;
  };
  readonly bars: Record<string, { readonly value: number }>;
}

const path = join(root, 'studies/results/contrastive.json');
const { figures, bars }: Contrastive = JSON.parse(readFileSync(path, 'utf8'));
const seeds = figures.results['stag hunt']!['without']!;
const fill = (marker: string) => fillResults('page.md', `a <!-- = ${marker} -->?<!-- / --> b`);
const value = (marker: string) => /-->(.*)<!-- \/ -->/.exec(fill(marker))?.[1];

describe('values in pages', () => {
  it('are filled in between their comments, and nothing else changes', () => {
    const mean = seeds.reduce((sum, { oneStep }) => sum + oneStep, 0) / seeds.length;
    const marker = 'contrastive: results/stag hunt/without/oneStep, mean 3';
    expect(fill(marker)).toBe(`a <!-- = ${marker} -->${mean.toFixed(3)}<!-- / --> b`);
    expect(fillResults('page.md', 'a <!-- a comment --> 1.23 b')).toBe('a <!-- a comment --> 1.23 b');
    const code = `\n\`\`\`md\n<!-- = ${marker} -->?<!-- / -->\n\`\`\`\n`;
    expect(fillResults('page.md', code)).toBe(code);
  });

  it('come from one seed, all seeds, or a bar', () => {
    expect(value('contrastive: results/stag hunt/without/2/oneStep, mean 4')).toBe(seeds[2]!.oneStep.toFixed(4));
    expect(value('contrastive: results/stag hunt/without/openLoop/9, list 2')?.split(', ')).toHaveLength(seeds.length);
    expect(value('contrastive: results/stag hunt/*/oneStep, count')).toBe(String(2 * seeds.length));
    expect(value('contrastive: bars/contrastive_loss, mean 2')).toBe(bars['contrastive_loss']!.value.toFixed(2));
    expect(value('report-cases: found/MOA of frequencies/0/0/check, text')).toBe('collapsed-class');
    const most = Math.max(...seeds.map(({ oneStep }) => oneStep));
    expect(value('contrastive: results/stag hunt/without/oneStep, most 2')).toBe(most.toFixed(2));
    expect(value(`contrastive: results/stag hunt/without/oneStep, reach ${most}`)).toBe(`1 of ${seeds.length}`);
  });

  it('come from curves', () => {
    const curve = 'dreamer-stag-hunt: results/0/returns';
    const results = JSON.parse(readFileSync(join(root, 'studies/results/dreamer-stag-hunt.json'), 'utf8'));
    const { steps, values }: { steps: number[]; values: number[] } = results.figures.results[0].returns;
    expect(value(`${curve}, at ${steps[3]} 3`)).toBe(values[3]!.toFixed(3));
    expect(value(`${curve}, at ${steps[3]! + 1} 3`)).toBe(values[3]!.toFixed(3));
    expect(value(`${curve}, reaches ${values[0]}`)).toBe(steps[0]!.toLocaleString('en-US'));
    expect(value(`${curve}, reaches 100`)).toBe('never');
    expect(() => fill(`${curve}, at 1 2`)).toThrow('the curve has no step up to 1');
  });

  it('come from a cell of a table as it stands on the results page', () => {
    const cell = value('contrastive: #With and without/stag hunt, return of HOP+/gain, cell');
    expect(readFileSync(join(root, 'studies/results/contrastive.md'), 'utf8')).toContain(` ${cell} |`);
    expect(cell).toMatch(/^-?\d\.\d{3} \[-?\d\.\d{3}, -?\d\.\d{3}\]$/);
    const speed = value('bench/ppo: #Stag hunt 4x4/own, coplay/steps/s, cell'); // a column with a slash in its name
    expect(readFileSync(join(root, 'bench/results/ppo.md'), 'utf8')).toContain(
      `| own     | coplay     | ${' '.repeat(7 - speed!.length)}${speed} |`,
    );
  });

  it('are refused by name where results have no such value', () => {
    expect(() => fill('contrastive: results/stag/without/oneStep, mean 3')).toThrow(
      'page.md: <!-- = contrastive: results/stag/without/oneStep, mean 3 -->?<!-- / -->: results/stag/without/oneStep: no stag, there are stag hunt, cart pole',
    );
    expect(() => fill('contrastve: bars/x, mean 3')).toThrow('there are no results of contrastve');
    expect(() => fill('contrastive: results/stag hunt/without/oneStep, men 3')).toThrow('there is no statistic men');
    expect(() => fill('contrastive: #With/stag hunt, accuracy/gain, cell')).toThrow('the table has no row');
  });
});

it('tables in pages are filled in, with the chosen columns', () => {
  const before =
    'a\n\n<!-- table = contrastive: With and without | game, measure, gain -->\n\nold\n\n<!-- / -->\n\nb\n';
  const after = fillResults('page.md', before);
  expect(after).toMatch(
    /^a\n\n<!-- table = .* -->\n\n\| game \| measure \| gain \|\n\| --- \| --- \| ---: \|\n\| stag hunt \|/,
  );
  expect(after).not.toContain('old');
  expect(fillResults('page.md', after)).toBe(after);
  expect(() => fillResults('page.md', before.replace('gain', 'win'))).toThrow('no column win');
});

it('the page of results links to figures and pages that are there', () => {
  const page = readFileSync(join(root, 'docs/results.md'), 'utf8');
  const links = [...page.matchAll(/\]\(\.\.\/([^)#]+)/g)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
});
