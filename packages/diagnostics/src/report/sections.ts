import type { Run } from '../runs';
import { summarise } from '../runs';
import { formatCell } from '../tables/format';
import type { PageGroup, PageMetric } from './data';
import { differences, settingTexts } from './differences';
import type { Finding } from './findings';
import { escapeHtml, htmlTable, Markup, withCode } from './html';
import { explain } from './keys';

const WORDS = { fault: 'Fault', warning: 'Warning', note: 'Note' };

/** What looks wrong. */
export function findingsSection(findings: readonly Finding[], metrics: readonly PageMetric[]): string {
  const logged = new Set(metrics.map(({ key }) => key));
  const cards = findings.map(
    ({ check, level, title, finding, advice, command, runs, ...rest }) =>
      `<article class="finding ${level}" data-check="${check}"><h3><span class="level">${WORDS[level]}:</span> ${escapeHtml(title)}</h3>
<p>${withCode(finding)}</p><p>${withCode(advice)}</p>
<p>To confirm it: <code>${escapeHtml(command)}</code></p>
<p>Runs: ${escapeHtml(runs.join(', '))}. Metrics: ${rest.metrics.map((key) => metricLink(key, logged)).join(', ')}</p></article>`,
  );
  const nothing = '<p>No check found anything. That says nothing about things that weren’t logged.</p>';
  return section('findings', 'What looks wrong', cards.length > 0 ? cards.join('\n') : nothing);
}

function metricLink(key: string, logged: ReadonlySet<string>): string {
  const name = `<code>${escapeHtml(key)}</code>`;
  return logged.has(key) ? `<a href="#metric-${escapeHtml(key)}">${name}</a>` : `${name} (not logged)`;
}

/** A line for each run: its progress and the mean return over its last fifth. */
export function runsSection(runs: readonly Run[], names: readonly string[], groups: readonly PageGroup[]): string {
  const agents = [
    ...new Set(runs.flatMap(({ config }) => Object.keys((config['agents'] as object | undefined) ?? {}))),
  ];
  const settings = settingTexts(runs);
  const rows = runs.map(({ config, entries }, i) => {
    const last = entries.at(-1);
    const summary = last ? summarise(entries) : {};
    const cell = (value: number | undefined) => formatCell(value, 3);
    return [
      names[i],
      [groups.find((group) => group.runs.includes(i))?.label ?? '', settings[i]]
        .filter((text) => text !== '')
        .join(': '),
      String(config['seed'] ?? ''),
      cell(last?.update),
      cell(last?.envSteps),
      cell(summary['episode/return_mean']),
      ...agents.map((id) => cell(summary[`episode/return/${id}`])),
    ];
  });
  const header = ['run', 'setting', 'seed', 'updates', 'environment steps', 'mean return', ...agents];
  return section('runs', 'Runs', htmlTable('Returns are means over the last fifth of the steps.', header, rows));
}

/** Settings in which runs differ, and each configuration as a whole. */
export function configurationSection(runs: readonly Run[], names: readonly string[]): string {
  const settings = differences(runs.map(({ config }) => config));
  const table = htmlTable(
    'Settings in which the runs differ',
    ['setting', ...names],
    settings.map(({ path, values }) => [new Markup(`<code>${escapeHtml(path)}</code>`), ...values]),
  );
  const whole = runs.map(({ config, versions }, i) => {
    const text = escapeHtml(JSON.stringify({ config, versions }, null, 2));
    return `<details><summary>All of ${escapeHtml(names[i])}</summary><pre tabindex="0">${text}</pre></details>`;
  });
  const compared = runs.length < 2 ? '' : settings.length > 0 ? table : '<p>The runs do not differ.</p>';
  return section('configuration', 'Configuration', `${compared}${whole.join('\n')}`);
}

/** Panels of chosen metrics, filled by the page's script; empty where none of them is logged. */
export function panelsSection(
  id: string,
  title: string,
  wanted: readonly RegExp[],
  metrics: readonly PageMetric[],
): string {
  const found = wanted.flatMap((pattern) => metrics.filter(({ key }) => pattern.test(key)));
  if (found.length === 0) return '';
  return section(id, title, `<div class="panels">${found.map((metric) => panel(metric, false)).join('\n')}</div>`);
}

/** Every metric under the headings of docs/metrics.md. */
export function metricsSection(metrics: readonly PageMetric[]): string {
  const headings = [...new Set(metrics.map(({ key }) => headingOf(key)))];
  const parts = headings.map((heading) => {
    const panels = metrics.filter(({ key }) => headingOf(key) === heading).map((metric) => panel(metric, true));
    return `<section class="group"><h3>${escapeHtml(heading)}</h3><div class="panels">${panels.join('\n')}</div></section>`;
  });
  const none = '<p id="nothing" class="none" hidden>No metric has all of these words.</p>';
  return section('metrics', 'All metrics', `${none}${parts.join('\n')}`);
}

function headingOf(key: string): string {
  return explain(key)?.section ?? 'Of your own';
}

function panel({ key }: PageMetric, isListed: boolean): string {
  const doc = explain(key);
  const name = escapeHtml(key);
  const what = doc ? withCode(doc.what) : 'Not in docs/metrics.md: a metric of your own.';
  const unit = doc?.unit ? ` <span class="unit">[${withCode(doc.unit)}]</span>` : '';
  const place = isListed ? ` id="metric-${name}" data-listed` : '';
  return `<article class="panel"${place} data-metric="${name}"><h4><code>${name}</code></h4><p class="what">${what}${unit}</p><div class="chart"></div></article>`;
}

/** A part of the page under a heading of its own. */
export function section(id: string, title: string, content: string): string {
  return `<section id="${id}"><h2>${escapeHtml(title)}</h2>\n${content}\n</section>`;
}
