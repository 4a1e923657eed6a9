export { bernoulliLoss } from './bernoulli';
export { type BoundedNormal, boundedNormal, normalEntropy, normalLogProb, normalSample } from './bounded-normal';
export { categoricalEntropy, categoricalKl, logProbOf, maskedLogProbs } from './categorical';
export { codesLoss } from './codes';
export { type LatentLosses, latentLosses } from './free-nats';
export { oneHotSample, straightThrough, unimix, unimixLog } from './one-hot';
export { argmaxRows, sampleCategorical } from './sample';
export { symexp, symlog } from './symlog';
export { mirrorBins, twoHotBins, twoHotLoss, twoHotMean, twoHotWeights } from './two-hot';
