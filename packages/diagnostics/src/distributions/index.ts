export { type Distribution, type DistributionOptions, distributionOf, type Histogram } from './distribution';
export { type Measures, type Origins, type Recorded, realAndImagined } from './origins';
export {
  type DistributionFigureOptions,
  distributionFigure,
  distributionMetrics,
  distributionTable,
} from './report';
