export {
  type ActorDistribution,
  type ActorOptions,
  type DreamerActions,
  type DreamerActor,
  dreamerActor,
} from './actor';
export { type CoPlayerModel, type CoPlayerStep, coPlayerModel, type RecordedCoPlayers } from './co-players';
export { type BlockGru, blockGru } from './core';
export { type DreamerDecoder, dreamerDecoder, type FlatState } from './decoder';
export { type EncodedSequence, encodeSequence, type RecordedSequence } from './encode-sequence';
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
export { DREAMER_MODULES, type DreamerModule, type DreamerNets, type DreamerNetsOptions, dreamerNets } from './nets';
export { type DreamerObservation, type DreamerObservations, dreamerObservations, oneHotCode } from './observations';
export { type Rssm, rssm } from './rssm';
export type { RssmInputs, RssmOptions, RssmSequence, RssmState } from './sequences';
export {
  DREAMER_SIZES,
  type DreamerSize,
  type DreamerSizeName,
  type DreamerSizes,
  dreamerSizes,
  type RssmSizes,
} from './sizes';
export {
  type DreamerBatch,
  type WorldModelLosses,
  type WorldModelLossOptions,
  worldModelLosses,
} from './world-model-loss';
