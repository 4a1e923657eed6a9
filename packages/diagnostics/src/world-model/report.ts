import type { NamedArrays, NDArray } from '@coplay/core';
import { checkArgument, checkNumbers, ndarrays } from '@coplay/core/checks';
import { z } from 'zod';
import { figure } from '../inputs';
import { formatRecord } from '../logs/csv-text';
import type { TableRow } from '../tables';
import { type Calibration, calibration } from './calibration';
import { checkPair, type PlanesErrors, planesErrors } from './predictions';
import { exactTransitions, illegalMoves, meanSquaredError } from './transitions';

/** A world model's predictions of a grid game's transitions, and the true outcomes. */
export interface WorldModelData {
  /** C names of the planes: A agents, what stays, things */
  readonly channels: readonly string[];
  /** [B, H, W, C] the raw prediction */
  readonly planes: NDArray;
  /** [B, ...] the most probable outcome: `next/cells` [B, A], `next/things` [B, M, HW], `rewards` [B, A] */
  readonly happened: NamedArrays;
  /** [B, ...] the transitions: `cells`, `fixed`, `next/cells`, `next/things`, `rewards` */
  readonly rows: NamedArrays;
}

const rowsSchema = z
  .looseObject({ cells: ndarrays, fixed: ndarrays, 'next/cells': ndarrays, 'next/things': ndarrays })
  .refine(({ cells }) => cells.shape.length === 2, 'cells [B, A]');
const dataSchema = z.looseObject({
  channels: z.array(z.string()),
  planes: ndarrays.refine(({ shape }) => shape.length === 4, 'planes [B, H, W, C]'),
  happened: z.looseObject({ 'next/cells': ndarrays, 'next/things': ndarrays, rewards: ndarrays }),
  rows: rowsSchema.refine((rows) => 'rewards' in rows, 'rows with rewards among them'),
});
const known = figure.optional();
const reportsSchema = z.record(
  z.string(),
  z.object({
    observationMse: known,
    psnrPooled: known,
    psnrMean: known,
    rewardMse: known,
    exact: known,
    illegalMoveRate: known,
    channelMse: z.record(z.string(), figure).optional(),
    calibration: z.looseObject({ error: figure }).optional(),
  }),
);

function checkReports(where: string, reports: Readonly<Record<string, Partial<WorldModelReport>>>): void {
  checkArgument(where, 'reports', reportsSchema, reports);
}

/** All figures of a world model on held-out data. */
export interface WorldModelReport extends PlanesErrors {
  readonly transitions: number;
  readonly rewardMse: number;
  /** Share of transitions whose next state is predicted exactly */
  readonly exact: number;
  /** Predicted moves that can't be, per agent on the map */
  readonly illegalMoveRate: number;
  /** Of the place of each agent on the map: the greatest of its plane's values, or 1 - their sum for having left */
  readonly calibration: Calibration;
}

/** Evaluates predictions of transitions: every figure of the report. */
export function worldModelReport(data: WorldModelData): WorldModelReport {
  checkArgument('worldModelReport', 'data', dataSchema, data);
  const { channels, planes, happened, rows } = data;
  const [B, H, W] = planes.shape;
  checkPair('worldModelReport', channels, planes, planes);
  const exact = exactTransitions(happened, rows);
  const illegal = illegalMoves({ rows: H, columns: W }, rows, happened['next/cells'].data);
  const onMap = (rows['cells'].data as Int32Array).filter((cell) => cell !== H * W).length;
  return {
    transitions: B,
    ...planesErrors({ channels, predicted: planes, actual: truePlanes(rows, planes.shape) }),
    rewardMse: meanSquaredError(happened['rewards'].data, rows['rewards'].data),
    exact: sum(exact) / B,
    illegalMoveRate: sum(illegal) / onMap,
    calibration: placeCalibration(data),
  };
}

/**
 * The planes that came: [B, H, W, A + F + M] of `next/cells`, `fixed` and `next/things`.
 *
 * @param shape  [B, H, W, C]
 */
export function truePlanes(rows: NamedArrays, shape: readonly number[]): NDArray<Uint8Array> {
  checkArgument('truePlanes', 'rows', rowsSchema, rows);
  checkNumbers('truePlanes', 'shape', shape, { length: 4, min: 0, whole: true });
  const [B, H, W, C] = shape;
  const cells = H * W;
  const agents = rows['cells'].shape[1];
  const planes = new Uint8Array(B * cells * C);
  (rows['next/cells'].data as Int32Array).forEach((cell, i) => {
    if (cell < cells) planes[(Math.floor(i / agents) * cells + cell) * C + (i % agents)] = 1;
  });
  let channel = agents;
  for (const { data, shape: parts } of [rows['fixed'], rows['next/things']]) {
    for (let i = 0; i < data.length; i++) {
      const kind = Math.floor(i / cells) % parts[1];
      const row = Math.floor(i / (cells * parts[1]));
      planes[(row * cells + (i % cells)) * C + channel + kind] = data[i];
    }
    channel += parts[1];
  }
  return { data: planes, shape };
}

function placeCalibration({ planes, rows }: WorldModelData): Calibration {
  const [, H, W, C] = planes.shape;
  const cells = H * W;
  const agents = rows['cells'].shape[1];
  const confidences: number[] = [];
  const cameTrue: number[] = [];
  (rows['cells'].data as Int32Array).forEach((before, i) => {
    if (before === cells) return;
    const start = Math.floor(i / agents) * cells * C + (i % agents);
    let left = 1;
    let best = 0;
    for (let cell = 0; cell < cells; cell++) {
      const value = planes.data[start + cell * C];
      left -= value;
      if (value > planes.data[start + best * C]) best = cell;
    }
    const hasLeft = left > planes.data[start + best * C];
    confidences.push(Math.min(1, Math.max(0, hasLeft ? left : planes.data[start + best * C])));
    cameTrue.push(rows['next/cells'].data[i] === (hasLeft ? cells : best) ? 1 : 0);
  });
  return calibration(confidences, cameTrue);
}

/**
 * Reports as a table, one column for each model and a row for each figure; figures of a report that lacks them stay
 * empty.
 */
export function worldModelTable(reports: Readonly<Record<string, Partial<WorldModelReport>>>): TableRow[] {
  checkReports('worldModelTable', reports);
  const channels = [...new Set(Object.values(reports).flatMap(({ channelMse = {} }) => Object.keys(channelMse)))];
  const figures: [string, (report: Partial<WorldModelReport>) => number | undefined][] = [
    ['observation MSE', ({ observationMse }) => observationMse],
    ['PSNR, pooled (dB)', ({ psnrPooled }) => psnrPooled],
    ['PSNR, mean over samples (dB)', ({ psnrMean }) => psnrMean],
    ['reward MSE', ({ rewardMse }) => rewardMse],
    ...channels.map((name): [string, (report: Partial<WorldModelReport>) => number | undefined] => [
      `MSE of ${name}`,
      ({ channelMse }) => channelMse?.[name],
    ]),
    ['predicted exactly', ({ exact }) => exact],
    ['illegal moves', ({ illegalMoveRate }) => illegalMoveRate],
    ['calibration error', ({ calibration: calibrated }) => calibrated?.error],
  ];
  return figures.map(([figure, read]) => ({
    figure,
    ...Object.fromEntries(Object.entries(reports).map(([name, report]) => [name, read(report)])),
  }));
}

/** The table as CSV, every digit of it. */
export function worldModelCsv(reports: Readonly<Record<string, Partial<WorldModelReport>>>): string {
  checkReports('worldModelCsv', reports);
  const names = Object.keys(reports);
  const lines = worldModelTable(reports).map((row) => [row['figure'], ...names.map((name) => row[name] ?? '')]);
  return [['figure', ...names], ...lines].map((line) => formatRecord(line.map(String))).join('');
}

function sum(flags: Uint8Array): number {
  return flags.reduce((total, flag) => total + flag, 0);
}
