export { type Calibration, type CalibrationBin, calibration } from './calibration';
export { planesFigure } from './figure';
export { type OpenLoopErrors, type OpenLoopStep, openLoopErrors } from './open-loop';
export { type PlanesErrors, type PlanesPair, planesErrors, psnr } from './predictions';
export {
  truePlanes,
  type WorldModelData,
  type WorldModelReport,
  worldModelCsv,
  worldModelReport,
  worldModelTable,
} from './report';
export { exactTransitions, illegalMoves, type MoveRules, meanSquaredError } from './transitions';
