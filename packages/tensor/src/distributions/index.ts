export { categoricalEntropy, categoricalKl, logProbOf, maskedLogProbs } from './categorical';
export { argmaxRows, sampleCategorical } from './sample';
