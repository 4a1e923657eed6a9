export {
  type OpenLoopArrays,
  type OpenLoopStepError,
  openLoopMetrics,
  openLoopOf,
  openLoopStepErrors,
} from './errors';
export { type OpenLoopFigureOptions, openLoopFigure } from './figure';
export type { OpenLoopPrediction } from './prediction';
