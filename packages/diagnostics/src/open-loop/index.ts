export { openLoopMetrics, openLoopOf, openLoopStepErrors } from './errors';
export { openLoopFigure } from './figure';
