export { type Distribution, distributionOf } from './distribution';
export { type Origins, realAndImagined } from './origins';
export { distributionFigure, distributionMetrics, distributionTable } from './report';
