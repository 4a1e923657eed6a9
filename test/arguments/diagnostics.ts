import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGenerator, type Log, ndarray } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import * as diagnostics from '@coplay/diagnostics';
import * as ablations from '@coplay/diagnostics/ablations';
import * as audits from '@coplay/diagnostics/audits';
import { stagHunt } from '@coplay/envs';
import { type Doors, door } from './doors';

const folder = mkdtempSync(join(tmpdir(), 'coplay-arguments-'));
const path = (name: string) => join(folder, name);
writeFileSync(path('config.json'), '{}');
writeFileSync(path('log.jsonl'), '{"envSteps":1,"update":1,"a":1}\n');

const estimate = { value: 1, lower: 0, upper: 2, count: 3 };
const curve = () => ({ steps: [0, 1], values: [1, 2] });
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>';
const verdict = { isFair: true, suspects: [], finding: 'fair' };
const entries = [{ envSteps: 1, update: 1, metrics: { a: 1 } }];
const run = { directory: folder, config: {}, versions: {}, entries };
const trace = { goals: ['stag', 'hare'], beliefs: [[0.5, 0.5]], starts: [0] };
const line = { steps: [0], belief: [0.5] };
const floats = (shape: readonly number[]) => ndarray(new Float32Array(shape.reduce((size, n) => size * n, 1)), shape);
const cells = (shape: readonly number[]) => ndarray(new Int32Array(shape.reduce((size, n) => size * n, 1)), shape);
const loop = () => ({ context: 1, actual: floats([1, 2, 3]), predicted: floats([1, 2, 3]) });
const loops = () => ({
  context: 1,
  actual: { rewards: floats([1, 2]) },
  predicted: { rewards: floats([1, 2]) },
  valid: floats([1, 2]),
});
const planes = () => ({ channels: ['a'], predicted: floats([1, 2, 2, 1]), actual: floats([1, 2, 2, 1]) });
const transitions = () => ({
  cells: cells([1, 1]),
  fixed: cells([1, 1, 4]),
  'next/cells': cells([1, 1]),
  'next/things': cells([1, 1, 4]),
  rewards: floats([1, 1]),
});
const happened = () => ({ 'next/cells': cells([1, 1]), 'next/things': cells([1, 1, 4]), rewards: floats([1, 1]) });
const experience = () => {
  const lived = allocateExperience(stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 }), 1, 2);
  lived.active.fill(1);
  return lived;
};
const predictions = () => ({ classes: ['a', 'b'], scores: new Float32Array(4), labels: new Int32Array(2) });
const epochs = () => [diagnostics.moaEvaluation(predictions())];
const distributions = () => diagnostics.realAndImagined([{ experience: experience() }]);
const audit = audits.symmetryAudit({ a: [1, 2], b: [2, 1] }, { permutations: 10 });
const rows = ablations.ablationSummary({ a: [1, 2], b: [2, 3] });
const summary = () => rows;

const plays = () => ({
  game: 'a game',
  agents: ['x'],
  policies: ['a'],
  plays: [{ seating: ['a'], returns: Float64Array.of(1, 2) }],
});
const crossed = () => diagnostics.crossPlaySummary(plays(), { resamples: 2 });

let made = 0;
const runInfo = () => ({ name: 'a game', config: {}, envSteps: 8, startedAt: 0 });
/** The functions of a log of files, each in a folder of its own. */
const logRow = () =>
  door(
    () => [path(`log-${made++}`), {}],
    ['path', 'options'],
    {
      start: door(() => [runInfo()]),
      write: door(() => [{ envSteps: 8, update: 1, metrics: { 'policy/loss': 1 } }]),
    },
    [],
    (log: Log) => log.start(runInfo()),
  );

const values = door(() => [[1, 2]], [['Uint16Array [7]', 'longer']]);
const twoValues = door(() => [[1, 2]], [['longer']]);
const rowsOf = (give: () => unknown) => door(() => [give()], [['[]', 'longer']]);

/** The public functions of diagnostics, with valid arguments. */
export const diagnosticsDoors: Doors = {
  addToReport: door(() => [folder, {}], ['path', 'options']),
  barChart: door(() => [{ a: 1, b: estimate }, {}], ['record', 'options']),
  beliefFigure: door(() => [{ a: line }, {}], ['nothing', 'options']),
  beliefLine: door(() => [trace, 'stag']),
  boxPlot: door(() => [{ a: [1, 2] }, {}], ['record', 'options']),
  crossPlayHeatMap: door(() => [crossed()]),
  crossPlaySummary: door(() => [plays(), { resamples: 2 }], ['nothing', 'options']),
  crossPlayTable: door(() => [crossed()]),
  csv: logRow(),
  curveOf: door(() => [entries, 'a'], [['[]', 'longer']]),
  distributionFigure: door(() => [distributions()['reward'], {}], ['nothing', 'options']),
  distributionMetrics: door(() => [distributions()], ['record']),
  distributionOf: door(() => [[1, 2], {}], [['[]', '[NaN]', 'Uint16Array [7]', 'longer'], 'options']),
  distributionTable: door(() => [distributions()], ['record']),
  findProblems: door(() => [[run]], [['[]', 'longer']]),
  goalTracker: door(() => [{ game: stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 }), envs: 1 }], [], {
    add: door(() => [experience()]),
  }),
  heatMap: door(() => [{ rows: ['a'], columns: ['b'], values: [[1]] }, {}], ['nothing', 'options']),
  jsonLines: logRow(),
  learningCurves: door(() => [{ a: [curve()] }, {}], ['record', 'options']),
  linearProbe: door(() => [
    { features: new Float32Array(4), labels: [0, 1], groups: [0, 1] },
    { classes: 2, iterations: 1 },
    createGenerator(1),
  ]),
  markdownTable: door(() => [[{ a: 1 }], {}], [['[]', 'longer'], 'options']),
  mlflow: door(() => [{ uri: 'http://127.0.0.1:5000' }]),
  moaEvaluation: door(() => [predictions()]),
  moaFigures: door(() => [epochs(), epochs()[0]], [['longer'], ['undefined']]),
  parallelCoordinates: door(() => [{ axes: ['a', 'b'], rows: [[1, 2]] }, {}], ['nothing', 'options']),
  priorLine: door(() => [trace, 'stag']),
  progress: door(
    () => [{ stream: { write: () => undefined } }],
    ['options'],
    {
      start: door(() => [runInfo()]),
      write: door(() => [{ envSteps: 8, update: 1, metrics: { 'policy/loss': 1 } }]),
    },
    [],
    (log: Log) => log.start(runInfo()),
  ),
  readLog: door(() => [path('log.jsonl'), {}], ['path', 'options']),
  readRun: door(() => [folder, {}], ['path', 'options']),
  realAndImagined: door(() => [[{ experience: experience() }], {}], [['[]', 'longer'], 'options']),
  report: door(() => [[folder], {}], [['longer'], 'options'], {}, ['readRun']),
  summarise: door(() => [entries, {}], [['longer'], 'options']),
  tensorboard: logRow(),
  textTable: door(() => [[{ a: 1 }], {}], [['[]', 'longer'], 'options']),
  toGif: door(() => [['<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'], {}], [['longer'], 'options']),
  toPng: door(() => [svg, {}], ['nothing', 'options']),
  wandb: logRow(),
  writeFigure: door(() => [path('figure'), svg, {}], ['path', 'nothing', 'options']),
  writeMoaEvaluation: door(() => [path('moa'), epochs()], ['path', ['[]', 'longer']]),
  writeReport: door(() => [path('report.html'), [folder], {}], ['path', ['longer'], 'options'], {}, ['readRun']),
};

/** Those of `@coplay/diagnostics/audits`. */
export const auditsDoors: Doors = {
  configurationAudit: door(() => [{ a: {}, b: {} }, ['id']], ['nothing', ['undefined', '[]', "['x']", 'longer']]),
  counterAudit: door(() => [{ a: { n: 1 }, b: { n: 1 } }, {}], ['nothing', 'options']),
  dueAudit: door(
    () => [
      { a: { n: 1 }, b: { n: 1 } },
      { a: { n: 1 }, b: { n: 1 } },
    ],
    ['record'],
  ),
  moduleAudit: door(() => [verdict, { moa: verdict }]),
  nameCulprit: door(() => [[{ test: 'a', verdict }]], [['longer']]),
  ownershipAudit: door(() => [{ a: { owns: ['a'], movedBy: { a: 1 } } }]),
  symmetryAudit: door(() => [{ a: [1, 2], b: [2, 1] }, { permutations: 10 }], ['nothing', 'options']),
  symmetryVerdict: door(() => [audit, 0.01], ['nothing', ['undefined']]),
};

/** Those of `@coplay/diagnostics/statistics`. */
export const statisticsDoors: Doors = {
  bandOverRuns: door(() => [[curve()], 3], [['longer'], ['undefined']]),
  bootstrap: door(() => [[1, 2], { resamples: 10 }], [['Uint16Array [7]', 'longer'], 'options']),
  interquartileMean: values,
  mean: values,
  median: values,
  permutationTest: door(
    () => [
      [
        [1, 2],
        [2, 1],
      ],
      {},
    ],
    [['longer'], 'options'],
  ),
  performanceProfile: door(
    () => [[[1, 2]], [1], { resamples: 10 }],
    [['longer'], ['Uint16Array [7]', 'longer'], 'options'],
  ),
  probabilityOfImprovement: door(() => [[[1, 2]], [[2, 3]], { resamples: 10 }], ['nothing', 'nothing', 'options']),
  quantile: door(() => [[1, 2], 0.5], [['Uint16Array [7]', 'longer']]),
  shareAtLeast: door(() => [[1, 2], 1, 0.95], [['Uint16Array [7]', 'longer'], 'number', ['undefined']]),
  smooth: door(() => [curve(), 1], ['nothing', ['2**33']]),
  standardDeviation: twoValues,
  stratifiedBootstrap: door(() => [[[1, 2]], { resamples: 10 }], [['longer'], 'options']),
  twoSamplePermutationTest: door(
    () => [[1], [2], {}],
    [['Uint16Array [7]', 'longer'], ['Uint16Array [7]', 'longer'], 'options'],
  ),
  variance: twoValues,
  welchTest: door(
    () => [
      [1, 2],
      [2, 3],
    ],
    [['longer'], ['longer']],
  ),
};

/** Those of `@coplay/diagnostics/ablations`. */
export const ablationsDoors: Doors = {
  ablationCsv: rowsOf(summary),
  ablationFigure: door(() => [summary(), {}], [['[]', 'longer'], 'options']),
  ablationGrid: door(() => [['a', 'b'], {}], [["['x']"], 'options']),
  ablationSummary: door(() => [{ a: [1, 2] }, {}], ['nothing', 'options']),
  ablationTable: rowsOf(summary),
};

/** Those of `@coplay/diagnostics/world-model`. */
export const worldModelDoors: Doors = {
  calibration: door(() => [[0.5], [1], 10], ['nothing', 'nothing', ['undefined']]),
  exactTransitions: door(() => [happened(), transitions()]),
  illegalMoves: door(() => [{ rows: 2, columns: 2 }, transitions(), [0]]),
  meanSquaredError: door(() => [[1], [2]], [['Uint16Array [7]'], ['Uint16Array [7]']]),
  openLoopErrors: door(() => [[{ happened: happened(), rows: transitions() }]], [['longer']]),
  openLoopFigure: door(() => [loop(), 0, {}], ['nothing', 'nothing', 'options']),
  openLoopMetrics: door(() => [loops()]),
  openLoopOf: door(() => [loops(), 'rewards']),
  openLoopStepErrors: door(() => [loop()]),
  planesErrors: door(() => [planes()]),
  planesFigure: door(() => [planes(), 0, {}], ['nothing', 'nothing', 'options']),
  psnr: door(() => [0.1], ['positive']),
  truePlanes: door(() => [transitions(), [1, 2, 2, 3]]),
  worldModelCsv: door(() => [{ a: { exact: 1 } }], [['{}', 'a cyclic object']]),
  worldModelReport: door(() => [
    { channels: ['a', 'b', 'c'], planes: floats([1, 2, 2, 3]), happened: happened(), rows: transitions() },
  ]),
  worldModelTable: door(() => [{ a: { exact: 1 } }], [['{}', 'a cyclic object']]),
};
