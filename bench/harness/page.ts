import { markdownTable, type TableRow } from '@coplay/diagnostics';
import type { JudgedBar, Results } from './results';

/** Rows for a table of bars. */
export function barRows(bars: Readonly<Record<string, JudgedBar>>): TableRow[] {
  return Object.entries(bars).map(([name, { value, bar, must, ok, what }]) => ({
    bar: name,
    what,
    value: value ?? Number.NaN,
    must: `${must} ${bar.toLocaleString('en-US', { maximumSignificantDigits: 6 })}`,
    holds: ok === null ? 'not judged' : ok ? 'yes' : 'no',
  }));
}

/** The page `NAME.md`: measurements, method, and results. */
export function makePage(results: Results, sections: readonly string[]): string {
  const { cpu, cores, platform } = results.machine;
  const head = [
    `# ${results.name}`,
    results.description,
    `\`${results.command}\` at commit ${results.commit ?? 'unknown'} on ${results.date.slice(0, 10)}: ${cpu}, ${cores} cores, ${platform}, Node ${results.versions['node']}.`,
  ];
  const bars =
    Object.keys(results.bars).length > 0 ? [`## Bars\n\n${markdownTable(barRows(results.bars)).trimEnd()}`] : [];
  return `${[...head, ...bars, ...sections].join('\n\n')}\n`;
}
