import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkOptions } from '@coplay/core';
import { checkText, parseJson } from '@coplay/core/checks';
import { writeWholeSync } from '@coplay/core/node';
import { z } from 'zod';
import type { BeliefLine } from '../beliefs';
import type { Origins } from '../distributions';
import type { MoaEvaluation } from '../moa';
import type { HeatMapData } from '../plots/heat-map';
import type { TableRow } from '../tables';

/** An episode as `recordEpisode` of `@coplay/envs` recorded it; only the page reads its content. */
export interface RecordedEpisode {
  readonly format: 'coplay-episode';
  readonly version: 1 | 2;
}

/** Data that don't fit into a log, to be shown in the report of a run. All by titles of yours. */
export interface ReportExtras {
  /** What `realAndImagined` gave: rewards and returns, real and imagined. */
  readonly distributions?: Readonly<Record<string, Origins>>;
  /** Beliefs: for each title, lines by co-player, such as the lines of `beliefLine`. */
  readonly beliefs?: Readonly<Record<string, Readonly<Record<string, BeliefLine>>>>;
  /** What `moaEvaluation` gave, by the model's name. */
  readonly moa?: Readonly<Record<string, MoaEvaluation>>;
  /** Tables such as `worldModelTable`'s. */
  readonly tables?: Readonly<Record<string, readonly TableRow[]>>;
  /** Tables of numbers as colours, such as `crossPlayHeatMap`'s. */
  readonly heatMaps?: Readonly<Record<string, HeatMapData>>;
  /** Recorded episodes, to be played on the page. */
  readonly replays?: Readonly<Record<string, RecordedEpisode>>;
}

const FILE = 'report.json';
// JSON has no NaN: it's null in the file.
const numbers = z.array(z.number().or(z.nan()).nullable());
const figure = z.number().or(z.nan()).nullable();
const share = figure.optional();
const distribution = z.looseObject({
  count: z.number(),
  mean: figure,
  min: figure,
  max: figure,
  histogram: z.object({ edges: numbers, counts: numbers }),
});
// A cell that is no number is escaped as text when it's shown.
const estimate = z.looseObject({ value: figure, lower: figure, upper: figure });
const cell = z.union([z.string(), figure, z.boolean(), estimate]).optional();
const schema = z.strictObject({
  distributions: z.record(z.string(), z.object({ real: distribution, imagined: distribution })).optional(),
  beliefs: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({ steps: numbers, belief: numbers, starts: numbers.optional(), switches: numbers.optional() }),
      ),
    )
    .optional(),
  moa: z
    .record(
      z.string(),
      z
        .looseObject({
          ...{ count: z.number(), top1: share, top3: share, balancedAccuracy: share },
          classes: z.array(
            z.looseObject({ name: z.string(), count: z.number(), recall: figure, precision: share, f1: share }),
          ),
          confusion: z.array(numbers),
        })
        .refine(({ classes, confusion }) => confusion.length === classes.length, 'a row of confusion for each class'),
    )
    .optional(),
  tables: z.record(z.string(), z.array(z.record(z.string(), cell))).optional(),
  heatMaps: z
    .record(
      z.string(),
      z
        .object({ rows: z.array(z.string()).min(1), columns: z.array(z.string()).min(1), values: z.array(numbers) })
        .refine(
          ({ rows, columns, values }) =>
            values.length === rows.length && values.every((row) => row.length === columns.length),
          'a value for each row and column',
        ),
    )
    .optional(),
  replays: z
    .record(z.string(), z.looseObject({ format: z.literal('coplay-episode'), version: z.literal([1, 2]) }))
    .optional(),
});

/**
 * Keeps distributions, belief traces, evaluations of models, tables and recorded episodes in the directory of a run
 * (`report.json`), for its report. Earlier extras stay, unless they have the same kind and title.
 *
 * @throws CoplayError for things of another form
 */
export function addToReport(directory: string, extras: ReportExtras): void {
  checkText('addToReport', 'directory', directory);
  checkOptions('addToReport', schema, extras);
  const kept = readExtras(directory) as Record<string, object>;
  for (const [kind, things] of Object.entries(extras ?? {})) kept[kind] = { ...kept[kind], ...things };
  writeWholeSync(join(directory, FILE), `${JSON.stringify(kept)}\n`, { where: 'addToReport', makeFolder: true });
}

/** What {@link addToReport} kept; nothing where there is none. */
export function readExtras(directory: string): ReportExtras {
  const path = join(directory, FILE);
  if (!existsSync(path)) return {};
  const remedy = 'Repair the file, or remove it.';
  const kept = parseJson(`report: ${path}`, readFileSync(path, 'utf8'), { remedy });
  return checkOptions(path, schema, kept) as unknown as ReportExtras;
}
