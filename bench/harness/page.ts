import { markdownTable, type TableRow } from '@coplay/diagnostics';
import type { JudgedBar, Results } from './results';

/** Rows for a table of bars. */
export function barRows(bars: Readonly<Record<string, JudgedBar>>): TableRow[] {
  return Object.entries(bars).map(([name, { value, interval, bar, must, verdict, what }]) => ({
    bar: name,
    what,
    value: value ?? Number.NaN,
    ...(Object.values(bars).some((one) => one.interval) && {
      '95 % interval': interval ? interval.map((end) => significant(end, 4)).join(' to ') : '',
    }),
    must: `${must} ${significant(bar, 6)}`,
    verdict,
  }));
}

function significant(value: number, digits: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: digits });
}

/** The page `NAME.md`: measurements, method, and results. */
export function makePage(results: Results, sections: readonly string[]): string {
  const { cpu, cores, platform } = results.machine;
  const head = [
    `# ${results.name}`,
    results.description,
    `\`${results.command}\` at commit ${results.commit ?? 'unknown'} on ${results.date.slice(0, 10)}: ${cpu}, ${cores} cores, ${platform}, Node ${results.versions['node']}.`,
    ...Object.entries(results.otherCommits).map(
      ([commit, seeds]) =>
        `Seeds from a run at ${commit === 'unknown' ? 'an unknown commit' : `commit ${commit}`}: ${seeds.join('; ')}.`,
    ),
    ...(results.leftOut.length > 0 ? [`**All bars are missing**: ${results.leftOut.join('; ')}.`] : []),
  ];
  return `${[...head, ...barSection(results), ...sections].join('\n\n')}\n`;
}

/** The section of the bars; none without any. */
export function barSection({ bars }: Pick<Results, 'bars'>): string[] {
  return Object.keys(bars).length > 0 ? [`## Bars\n\n${markdownTable(barRows(bars)).trimEnd()}`] : [];
}
