import type { Distribution, Origins } from '../distributions';
import type { MoaEvaluation } from '../moa';
import type { HeatMapData } from '../plots/heat-map';
import type { TableRow } from '../tables';
import { formatCell } from '../tables/format';
import type { ReportExtras } from './extras';
import { escapeHtml, htmlTable, Markup } from './html';
import { section } from './sections';

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [460, 200, 60, 24];
const ORIGINS = ['real', 'imagined'] as const;

/** Distributions, evaluations and tables of each run that has some. */
export function extrasSection(extras: readonly ReportExtras[], names: readonly string[]): string {
  const parts = extras.flatMap((extra, run) => {
    const panels = [
      ...Object.entries(extra.distributions ?? {}).map(([title, origins]) => histogram(title, origins)),
      ...Object.entries(extra.moa ?? {}).map(([title, evaluation]) => moa(title, evaluation)),
      ...Object.entries(extra.heatMaps ?? {}).map(([title, data]) => heatMapPanel(title, data)),
      ...Object.entries(extra.tables ?? {}).map(([title, rows]) => plainTable(title, rows)),
    ];
    if (panels.length === 0) return [];
    return [`<h3>${escapeHtml(names[run])}</h3><div class="panels">${panels.join('\n')}</div>`];
  });
  return parts.length === 0 ? '' : section('evaluations', 'Distributions and evaluations', parts.join('\n'));
}

/** Bars of real and imagined shares side by side, with their figures as a table below. */
function histogram(title: string, origins: Origins): string {
  const shown = ORIGINS.filter((origin) => origins[origin].count > 0);
  if (shown.length === 0) {
    const text = 'There were none: a rollout in which no episode ended has no returns.';
    return `<article class="panel distribution"><h4>${escapeHtml(title)}</h4><p>${text}</p></article>`;
  }
  const shares = shown.map((origin) => origins[origin].histogram.counts.map((n) => n / origins[origin].count));
  const { edges } = origins[shown[0]].histogram;
  const top = Math.max(...shares.flat(), 1e-9);
  const bars = shares.flatMap((list, i) =>
    list.map((share, bin) => {
      const width = (WIDTH - LEFT) / list.length;
      const height = ((HEIGHT - BOTTOM - 8) * Math.sqrt(share)) / Math.sqrt(top);
      const x = LEFT + bin * width + (i * width) / shown.length;
      const pattern = i === 1 ? ' fill-opacity="0.35" stroke-width="1.5"' : '';
      return `<rect class="bar-${shown[i]} f${i} k${i}" x="${x.toFixed(1)}" y="${(HEIGHT - BOTTOM - height).toFixed(1)}" width="${((0.9 * width) / shown.length).toFixed(1)}" height="${height.toFixed(1)}"${pattern}/>`;
    }),
  );
  const ends = [edges[0], edges[edges.length - 1]];
  const label = `${title}: shares of ${shown.join(' (filled) and ')}${shown.length > 1 ? ' (outlined)' : ''}; the scale is a square root`;
  const svg = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(label)}"><line class="axis" x1="${LEFT}" x2="${WIDTH}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM}"/>
<text x="0" y="16">${escapeHtml(formatCell(100 * top, 1))} %</text>${ends.map((end, i) => `<text x="${i === 0 ? LEFT : WIDTH}" y="${HEIGHT - 6}" text-anchor="${i === 0 ? 'start' : 'end'}">${escapeHtml(formatCell(end, 2))}</text>`).join('')}${bars.join('')}</svg>`;
  const rows = shown.map((origin) => [origin, ...figures(origins[origin])]);
  const table = htmlTable(label, ['origin', 'count', 'mean', 'least', 'greatest'], rows);
  return `<article class="panel distribution"><h4>${escapeHtml(title)}</h4>${svg}${table}</article>`;
}

function figures({ count, mean, min, max }: Distribution): string[] {
  return [count, mean, min, max].map((value) => formatCell(value, 3));
}

/** A share from 0 to 1 as a picture: styles in attributes are forbidden by the page's policy. */
function bar(share: number): string {
  const width = Math.round(60 * Math.min(1, Math.max(0, share)));
  return `<svg class="bar" width="${width}" height="11" aria-hidden="true"><rect width="${width}" height="11"/></svg>`;
}

/** Recall of each action, and the confusion of actions and guesses. */
function moa(title: string, { top1, top3, balancedAccuracy, classes, confusion }: MoaEvaluation): string {
  const percent = (share: number | null | undefined) =>
    share === null || share === undefined ? '' : `${formatCell(100 * share, 1)} %`;
  const rows = classes.map(({ name, count, recall, precision, f1 }) => {
    const recalled = new Markup(`${bar(recall || 0)}${escapeHtml(percent(recall))}`);
    return [name, formatCell(count, 0), recalled, percent(precision), formatCell(f1, 3)];
  });
  const matrix = confusion.map((line, k) => [classes[k].name, ...line.map((n) => formatCell(n, 0))]);
  const summary = `Top-1 ${percent(top1)}, top-3 ${percent(top3)}, balanced ${percent(balancedAccuracy)}`;
  return `<article class="panel moa"><h4>${escapeHtml(title)}</h4><p>${escapeHtml(summary)}</p>${htmlTable('By action', ['action', 'count', 'recall', 'precision', 'F1'], rows)}
<details><summary>Actions (rows) and guesses (columns)</summary>${htmlTable('Confusion', ['done', ...classes.map(({ name }) => name)], matrix)}</details></article>`;
}

/** Darker cells for larger values, and the values in a table below. */
function heatMapPanel(title: string, { rows, columns, values }: HeatMapData): string {
  const known = values.flat().filter((value) => Number.isFinite(value));
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const [width, height] = [(WIDTH - LEFT) / columns.length, 34];
  const cells = values.flatMap((row, r) =>
    row.map((value, c) => {
      const [x, y] = [LEFT + c * width, r * height];
      const share = most > least ? (value - least) / (most - least) : 0.5;
      const shade = Number.isFinite(value) ? (0.1 + 0.5 * share).toFixed(2) : '0';
      const text = `<text x="${(x + width / 2).toFixed(1)}" y="${y + 22}" text-anchor="middle">${escapeHtml(formatCell(value, 2))}</text>`;
      return `<rect class="f0" x="${(x + 1).toFixed(1)}" y="${y + 1}" width="${(width - 2).toFixed(1)}" height="${height - 2}" fill-opacity="${shade}"/>${text}`;
    }),
  );
  const numbers = rows.map((_, r) => `<text x="0" y="${r * height + 22}">${r + 1}</text>`);
  const label = `${title}. Row 1 is ${rows[0]}; columns have the order of the table`;
  const svg = `<svg viewBox="0 0 ${WIDTH} ${rows.length * height}" role="img" aria-label="${escapeHtml(label)}">${numbers.join('')}${cells.join('')}</svg>`;
  const lines = rows.map((row, r) => [`${r + 1} ${row}`, ...values[r].map((value) => formatCell(value, 3))]);
  return `<article class="panel heat-map"><h4>${escapeHtml(title)}</h4>${svg}${htmlTable(title, ['', ...columns], lines)}</article>`;
}

function plainTable(title: string, rows: readonly TableRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => columns.map((column) => formatCell(row[column], 3)));
  return `<article class="panel"><h4>${escapeHtml(title)}</h4>${htmlTable(title, columns, cells)}</article>`;
}
