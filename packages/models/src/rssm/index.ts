export {
  type ActorDistribution,
  type ActorOptions,
  type DreamerActions,
  type DreamerActor,
  dreamerActor,
} from './actor';
export { type CoPlayerModel, coPlayerModel } from './co-players';
export { type BlockGru, blockGru } from './core';
export { type DreamerDecoder, dreamerDecoder } from './decoder';
export { encodeSequence } from './encode-sequence';
export { type DreamerEncoder, dreamerEncoder } from './encoder';
export {
  type ContinueHead,
  continueHead,
  type DreamerHead,
  dreamerHead,
  type HeadOptions,
  type TwoHotHead,
  twoHotHead,
} from './heads';
export { type DreamerNets, type DreamerNetsOptions, dreamerNets } from './nets';
export { type DreamerObservations, dreamerObservations, oneHotCode } from './observations';
export { type Rssm, rssm } from './rssm';
export type { RssmInputs, RssmOptions, RssmSequence, RssmState } from './sequences';
export { type DreamerSize, type DreamerSizeName, type DreamerSizes, dreamerSizes } from './sizes';
export {
  type DreamerBatch,
  type WorldModelLosses,
  type WorldModelLossOptions,
  worldModelLosses,
} from './world-model-loss';
