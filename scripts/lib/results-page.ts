import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JudgedBar } from '../../bench/harness/results';
import { compareResults, type Finding } from '../../bench/harness/stale';
import { markdownTable, type TableRow } from '../../packages/diagnostics/src/tables';
import { root } from './workspaces';

/** Seeds that a claim about learning needs. */
const ENOUGH = 10;

const VERDICTS = ['holds', 'does not hold', 'missing', 'stale'] as const;

/** Results of a study or bench, with the folder that they are in and the reason for which they are stale. */
interface Entry extends Finding {
  readonly folder: 'studies' | 'bench';
  readonly stale: string | undefined;
}

/** The page docs/results.md: every bar of every study and bench, as committed results have it. */
export async function resultsPage(): Promise<string> {
  const reasons = JSON.parse(readFileSync(join(root, 'bench/stale.json'), 'utf8')) as Record<string, string>;
  const entries: Entry[] = [];
  for (const [kind, folder] of [
    ['study', 'studies'],
    ['bench', 'bench'],
  ] as const) {
    for (const finding of await compareResults({ kind, folder: join(root, folder) })) {
      const isApart = finding.results !== undefined && finding.problems.length > 0;
      const reason = reasons[`${folder}/${finding.name}`] ?? finding.problems.join('; ');
      entries.push({ ...finding, folder, stale: isApart ? reason : undefined });
    }
  }
  const [studies, benches] = (['studies', 'bench'] as const).map((kind) => entries.filter((e) => e.folder === kind));
  return `${[
    '# Results',
    `Every bar of every study and bench, with the committed results. \`npm run generate\` makes this page. A bar *holds*,
*does not hold*, or is *missing*: not all of its seeds or parts were run, or not at a commit. It is *stale* if the study
or its code has changed since: the value says nothing about the present code.
[Verdicts](../bench/README.md#verdicts) gives the rules. Intervals are 95 % intervals over seeds. A claim about learning
needs ${ENOUGH} seeds or more; others are marked *fewer than ${ENOUGH} seeds*.`,
    markdownTable(entries.map(summaryRow)).trimEnd(),
    '## Studies: learning',
    ...studies!.flatMap(section),
    '## Benches: speed',
    ...benches!.flatMap(section),
  ].join('\n\n')}\n`;
}

function summaryRow(entry: Entry): TableRow {
  const bars = barsOf(entry);
  const counts = VERDICTS.map((verdict) => [verdict, bars.filter((bar) => bar.verdict === verdict).length] as const);
  return {
    results: `[${entry.folder === 'bench' ? 'bench ' : ''}${entry.name}](#${entry.folder}-${entry.name})`,
    seeds: seedsOf(entry),
    ...Object.fromEntries(counts.map(([verdict, count]) => [verdict, count === 0 ? undefined : count])),
  };
}

function section(entry: Entry): string[] {
  const { folder, name, results, experiment, stale, problems } = entry;
  const heading = `### ${folder} ${name}`;
  const description = experiment?.description ?? results?.description ?? '';
  if (!results) return [heading, `${description}. **Missing**: ${problems.join('; ')}.`, barTable(entry)];
  const page = `../${folder}/results/${name}.md`;
  const commits = [results.commit ?? 'unknown', ...Object.keys(results.otherCommits)].join(', ');
  const figures = figuresOf(entry);
  return [
    heading,
    `${description}.`,
    `\`${results.command}\`, commit ${commits}, ${results.date.slice(0, 10)}, ${seedsOf(entry)}; [page](${page})${
      figures.length > 0 ? `; figures ${figures.join(', ')}` : ''
    }.`,
    ...(stale ? [`**Stale**: ${stale}.`] : []),
    ...(!stale && results.leftOut.length > 0 ? [`**Missing**: ${results.leftOut.join('; ')}.`] : []),
    barTable(entry),
  ];
}

/** At most four links to figures of the page. */
function figuresOf({ folder, name }: Entry): string[] {
  const page = readFileSync(join(root, folder, 'results', `${name}.md`), 'utf8');
  const figures = [...page.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)];
  return figures.slice(0, 4).map(([, label, file]) => `[${label}](../${folder}/results/${file})`);
}

function barTable(entry: Entry): string {
  return markdownTable(
    barsOf(entry).map((bar) => ({
      claim: bar.what,
      value: estimateOf(bar),
      must: `${bar.must} ${short(bar.bar)}`,
      ...(entry.folder === 'studies' && { seeds: isFew(entry, bar) ? `fewer than ${ENOUGH} seeds` : '' }),
      verdict: bar.verdict,
    })),
  ).trimEnd();
}

type ShownBar = Omit<JudgedBar, 'verdict'> & { readonly verdict: string };

/** The bars of the results and, without results, those that are missing. */
function barsOf({ results, experiment, stale }: Entry): ShownBar[] {
  const judged = Object.entries(results?.bars ?? {}).map(([, bar]) => ({ ...bar, ...(stale && { verdict: 'stale' }) }));
  const missing = Object.entries(experiment?.bars ?? {}).filter(([name]) => !(name in (results?.bars ?? {})));
  return [
    ...judged,
    ...missing.map(([, bar]) => ({
      value: null,
      bar: 'atLeast' in bar ? bar.atLeast : bar.atMost,
      must: 'atLeast' in bar ? ('at least' as const) : ('at most' as const),
      verdict: 'missing',
      what: bar.what,
    })),
  ];
}

function isFew({ results }: Entry, bar: ShownBar): boolean {
  return results !== undefined && bar.value !== null && (bar.seeds ?? results.settings.seeds) < ENOUGH;
}

function seedsOf({ results }: Entry): string {
  if (!results) return 'no seeds';
  const { seeds, firstSeed } = results.settings;
  return seeds === 1 ? `seed ${firstSeed}` : `seeds ${firstSeed} to ${firstSeed + seeds - 1}`;
}

function estimateOf({ value, interval }: ShownBar): string {
  if (value === null) return '';
  return interval ? `${short(value)} [${interval.map(short).join(', ')}]` : short(value);
}

function short(value: number): string {
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(1);
  return value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) < 1000 ? 4 : 6 });
}
