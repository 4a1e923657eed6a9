import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Curve, interquartileMean, mean, median } from '../../packages/diagnostics/src/statistics';
import { root } from './workspaces';

/*
 * Pages quote results between comments, and `npm run generate` fills them in:
 *
 *   <!-- = hop: results/small/evaluated, mean 3 -->2.862<!-- / -->
 *
 * The name is that of a study (`bench/NAME` for a bench). The path leads through its figures, over all items of lists,
 * and `*` stands for all fields of a record; a path that begins with `bars/` leads to a bar. Then follow a statistic
 * and the digits after the point. A path that begins with `#` leads to a cell of a table of the results page: the
 * beginning of the table's title, the first cell of the row (or its first two cells with a comma between), the column.
 *
 *   <!-- = adaptation: #Who is compared/HOP/among themselves, cell -->2.867 [2.829, 2.896]<!-- / -->
 *
 * A whole table stands between comments on lines of their own, with all columns or some of them:
 *
 *   <!-- table = any-game: Mean return of an agent | game, agents, best -->
 */
const VALUE = /<!-- = ([\w/-]+): ([^>]+?), ([\w-]+(?: [\d.]+)*) -->[\s\S]*?<!-- \/ -->/g;
const TABLE = /^<!-- table = ([\w/-]+): (.+) -->\n[\s\S]*?^<!-- \/ -->$/gm;

/** A page with the values and tables of results filled in, except in code. @throws Error for unknown names */
export function fillResults(path: string, page: string): string {
  const parts = page.split(/(^```[\s\S]*?^```$)/m);
  return parts.map((part, i) => (i % 2 === 0 ? fillText(path, part) : part)).join('');
}

function fillText(path: string, text: string): string {
  const at = (match: string, fill: () => string) => {
    try {
      return fill();
    } catch (error) {
      throw new Error(`${path}: ${match.split('\n')[0]}: ${(error as Error).message}`);
    }
  };
  return text
    .replaceAll(VALUE, (match, name: string, where: string, how: string) => {
      return `<!-- = ${name}: ${where}, ${how} -->${at(match, () => valueAt(name, where, how))}<!-- / -->`;
    })
    .replaceAll(TABLE, (match, name: string, title: string) => {
      return `<!-- table = ${name}: ${title} -->\n\n${at(match, () => tableText(name, title))}\n\n<!-- / -->`;
    });
}

function fileOf(name: string, ending: string): string {
  const [kind, own] = name.startsWith('bench/') ? ['bench', name.slice('bench/'.length)] : ['studies', name];
  const path = join(root, kind!, 'results', `${own}.${ending}`);
  if (!existsSync(path)) throw new Error(`there are no results of ${name}`);
  return readFileSync(path, 'utf8');
}

function valueAt(name: string, path: string, how: string): string {
  if (path.startsWith('#')) return cellAt(name, path.slice(1).split('/'));
  const { figures, bars } = JSON.parse(fileOf(name, 'json')) as { figures: unknown; bars: unknown };
  const keys = path.startsWith('bars/') ? [...path.slice('bars/'.length).split('/'), 'value'] : path.split('/');
  const values = follow(path.startsWith('bars/') ? bars : figures, keys, path);
  const [what = '', first = '', digits = ''] = how.split(' ');
  if (what === 'text') return values.join(', ');
  if (what === 'reaches') return reaches(values as readonly Curve[], Number(first));
  if (what === 'at') return valueOfCurve(values as readonly Curve[], Number(first)).toFixed(Number(digits));
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0 || numbers.length < values.length) throw new Error(`${path} has no numbers`);
  return statistic(how, numbers);
}

/** The first step at which a curve is at a level. */
function reaches([curve]: readonly Curve[], level: number): string {
  const step = curve?.steps[curve.values.findIndex((value) => value >= level)];
  return step === undefined ? 'never' : step.toLocaleString('en-US');
}

/** The last value of a curve up to a step. */
function valueOfCurve([curve]: readonly Curve[], step: number): number {
  const last = curve?.steps.findLastIndex((at) => at <= step) ?? -1;
  if (last < 0) throw new Error(`the curve has no step up to ${step}`);
  return curve!.values[last]!;
}

/** A cell of a table as it stands there. */
function cellAt(name: string, [title = '', row = '', ...rest]: readonly string[]): string {
  const { header, body } = tableOf(name, title);
  const column = rest.join('/'); // such as steps/s
  const found = body.find((cells) => cells[0] === row || `${cells[0]}, ${cells[1]}` === row);
  const cell = found?.[header.indexOf(column)];
  if (cell === undefined) throw new Error(`the table has no row ${row} or no column ${column}`);
  return cell;
}

function follow(data: unknown, keys: readonly string[], path: string): unknown[] {
  if (Array.isArray(data) && !/^\d+$/.test(keys[0] ?? '')) return data.flatMap((item) => follow(item, keys, path));
  if (keys.length === 0) return [data];
  const fields = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  if (keys[0] === '*') return Object.values(fields).flatMap((field) => follow(field, keys.slice(1), path));
  // A key may have slashes, as those of metrics do.
  const length = keys.findIndex((_, i) => keys.slice(0, i + 1).join('/') in fields) + 1;
  if (length === 0) throw new Error(`${path}: no ${keys[0]}, there are ${Object.keys(fields).join(', ')}`);
  return follow(fields[keys.slice(0, length).join('/')], keys.slice(length), path);
}

/** A statistic by its words, such as `mean 3`: its name, and its digits or the level that it counts by. */
function statistic(how: string, values: readonly number[]): string {
  const [name = '', first = '0'] = how.split(' ');
  const text = (value: number, digits = first) => {
    return value.toLocaleString('en-US', {
      minimumFractionDigits: Number(digits),
      maximumFractionDigits: Number(digits),
    });
  };
  const all: Record<string, () => string> = {
    mean: () => text(mean(values)),
    median: () => text(median(values)),
    iqm: () => text(interquartileMean(values)),
    least: () => text(Math.min(...values)),
    most: () => text(Math.max(...values)),
    list: () => values.map((value) => text(value)).join(', '),
    range: () => `${text(Math.min(...values))} to ${text(Math.max(...values))}`,
    percent: () => `${text(100 * mean(values))} %`,
    minutes: () => text(mean(values) / 60),
    count: () => text(values.length, '0'),
    reach: () => `${values.filter((value) => value >= Number(first)).length} of ${values.length}`,
    below: () => `${values.filter((value) => value < Number(first)).length} of ${values.length}`,
  };
  const compute = all[name];
  if (!compute) throw new Error(`there is no statistic ${name}, there are ${Object.keys(all).join(', ')}`);
  return compute();
}

interface Table {
  readonly header: readonly string[];
  readonly body: readonly (readonly string[])[];
}

function tableOf(name: string, title: string): Table {
  const sections = fileOf(name, 'md').split(/^## /m).slice(1);
  const found = sections.find((section) => section.startsWith(title));
  const lines = found?.match(/^\|.*\|$/gm);
  if (!lines) throw new Error(`there are the tables ${sections.map((text) => text.split('\n')[0]).join('; ')}`);
  const [header = [], , ...body] = lines.map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
  return { header, body };
}

function tableText(name: string, words: string): string {
  const [title = '', chosen] = words.split(' | ');
  const { header, body } = tableOf(name, title);
  const columns = chosen?.split(', ') ?? header;
  const unknown = columns.find((column) => !header.includes(column));
  if (unknown) throw new Error(`no column ${unknown}, there are ${header.join(', ')}`);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const isNumeric = (column: string) => body.every((cells) => /^[-\d]|^$/.test(cells[header.indexOf(column)] ?? ''));
  return [
    line(columns),
    line(columns.map((column) => (isNumeric(column) ? '---:' : '---'))),
    ...body.map((cells) => line(columns.map((column) => cells[header.indexOf(column)] ?? ''))),
  ].join('\n');
}
