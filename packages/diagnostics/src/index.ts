export { type BeliefLine, beliefFigure, beliefLine, priorLine } from './beliefs';
export { type CrossPlaySummary, crossPlayHeatMap, crossPlaySummary, crossPlayTable } from './cross-play';
export {
  type Distribution,
  distributionFigure,
  distributionMetrics,
  distributionOf,
  distributionTable,
  realAndImagined,
} from './distributions';
export { type GoalTracker, type GoalTrackerOptions, goalTracker } from './goals';
export {
  csv,
  jsonLines,
  type MlflowOptions,
  mlflow,
  progress,
  readLog,
  tensorboard,
  type WandbOptions,
  wandb,
} from './logs';
export { type MoaEvaluation, moaEvaluation, moaFigures, writeMoaEvaluation } from './moa';
export { barChart, boxPlot, heatMap, learningCurves, parallelCoordinates, toGif, toPng, writeFigure } from './plots';
export { linearProbe, type ProbeResult } from './probes';
export { addToReport, findProblems, type ReportOptions, report, writeReport } from './report';
export { curveOf, type Run, readRun, summarise } from './runs';
export { markdownTable, type TableRow, textTable } from './tables';
