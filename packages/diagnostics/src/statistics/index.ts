export { bootstrap, type Estimate } from './bootstrap';
export { type Band, bandOverRuns, type Curve, smooth } from './curves';
export { type PermutationResult, permutationTest, twoSamplePermutationTest } from './permutation';
export { shareAtLeast } from './share';
export {
  performanceProfile,
  probabilityOfImprovement,
  type Scores,
  stratifiedBootstrap,
} from './stratified';
export { interquartileMean, mean, median, quantile, standardDeviation, variance } from './summary';
export { type WelchResult, welchTest } from './welch';
