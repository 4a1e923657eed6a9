export { type Calibration, calibration } from './calibration';
export { planesFigure } from './figure';
export { type OpenLoopErrors, type OpenLoopStep, openLoopErrors } from './open-loop';
export { planesErrors, psnr } from './predictions';
export { truePlanes, type WorldModelReport, worldModelCsv, worldModelReport, worldModelTable } from './report';
export { exactTransitions, illegalMoves, meanSquaredError } from './transitions';
