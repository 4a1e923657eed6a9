import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interquartileMean, mean, median } from '../../packages/diagnostics/src/statistics';
import { root } from './workspaces';

/*
 * Pages quote results between comments, and `npm run generate` fills them in:
 *
 *   <!-- = hop: results/small/evaluated, mean 3 -->2.862<!-- / -->
 *
 * The name is that of a study (`bench/NAME` for a bench). The path leads through its figures, over all items of lists,
 * and `*` stands for all fields of a record; a path that begins with `bars/` leads to a bar. Then follow a statistic
 * and the digits after the point. A whole table of a results page stands between comments on lines of their own:
 *
 *   <!-- table = hop-plus: Mean return per agent -->
 *
 * The words are the beginning of the table's title.
 */
const VALUE = /<!-- = ([\w/-]+): ([^>]+?), ([\w-]+(?: [\d.]+)*) -->[^<]*<!-- \/ -->/g;
const TABLE = /^<!-- table = ([\w/-]+): (.+) -->\n[\s\S]*?^<!-- \/ -->$/gm;

/** A page with the values and tables of results filled in. @throws Error for names that results don't have */
export function fillResults(path: string, page: string): string {
  const at = (match: string, fill: () => string) => {
    try {
      return fill();
    } catch (error) {
      throw new Error(`${path}: ${match.split('\n')[0]}: ${(error as Error).message}`);
    }
  };
  return page
    .replaceAll(VALUE, (match, name: string, where: string, how: string) => {
      const text = at(match, () => statistic(how, valuesAt(name, where)));
      return `<!-- = ${name}: ${where}, ${how} -->${text}<!-- / -->`;
    })
    .replaceAll(TABLE, (match, name: string, title: string) => {
      return `<!-- table = ${name}: ${title} -->\n\n${at(match, () => tableOf(name, title))}\n\n<!-- / -->`;
    });
}

function fileOf(name: string, ending: string): string {
  const [kind, own] = name.startsWith('bench/') ? ['bench', name.slice('bench/'.length)] : ['studies', name];
  const path = join(root, kind!, 'results', `${own}.${ending}`);
  if (!existsSync(path)) throw new Error(`there are no results of ${name}`);
  return readFileSync(path, 'utf8');
}

/** The numbers at a path, in order. */
function valuesAt(name: string, path: string): number[] {
  const { figures, bars } = JSON.parse(fileOf(name, 'json')) as { figures: unknown; bars: unknown };
  const keys = path.startsWith('bars/') ? [...path.slice('bars/'.length).split('/'), 'value'] : path.split('/');
  const values = follow(path.startsWith('bars/') ? bars : figures, keys, path);
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0 || numbers.length < values.length) throw new Error(`${path} has no numbers`);
  return numbers;
}

function follow(data: unknown, keys: readonly string[], path: string): unknown[] {
  if (Array.isArray(data) && !/^\d+$/.test(keys[0] ?? '')) return data.flatMap((item) => follow(item, keys, path));
  const [key, ...rest] = keys;
  if (key === undefined) return [data];
  const fields = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  if (key === '*') return Object.values(fields).flatMap((field) => follow(field, rest, path));
  if (!(key in fields)) throw new Error(`${path}: no ${key}, there are ${Object.keys(fields).join(', ')}`);
  return follow(fields[key], rest, path);
}

/** A statistic by its words: `mean 3`, `least 2`, `list 3`, `percent 0`, `count`, `reach 2.75` (how many of how many). */
function statistic(how: string, values: readonly number[]): string {
  const [name = '', first = '0', second = '0'] = how.split(' ');
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
    // The value in a thousand steps, where the second number is the digits.
    per: () => text(mean(values) / Number(first), second),
  };
  const compute = all[name];
  if (!compute) throw new Error(`there is no statistic ${name}, there are ${Object.keys(all).join(', ')}`);
  return compute();
}

function tableOf(name: string, title: string): string {
  const sections = fileOf(name, 'md').split(/^## /m).slice(1);
  const found = sections.find((section) => section.startsWith(title));
  const table = found?.match(/^\|.*\|$/gm)?.join('\n');
  if (!table) throw new Error(`there are the tables ${sections.map((text) => text.split('\n')[0]).join('; ')}`);
  return table;
}
