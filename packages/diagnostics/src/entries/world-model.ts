/*
 * `@coplay/diagnostics/world-model`: errors of world models, of one step and of open-loop predictions, with tables and
 * figures.
 */
export { openLoopFigure, openLoopMetrics, openLoopOf, openLoopStepErrors } from '../open-loop';
export {
  type Calibration,
  calibration,
  exactTransitions,
  illegalMoves,
  meanSquaredError,
  type OpenLoopErrors,
  type OpenLoopStep,
  openLoopErrors,
  planesErrors,
  planesFigure,
  psnr,
  truePlanes,
  type WorldModelReport,
  worldModelCsv,
  worldModelReport,
  worldModelTable,
} from '../world-model';
