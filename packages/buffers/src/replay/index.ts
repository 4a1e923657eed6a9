export {
  createReplayBuffer,
  type ReplayBuffer,
  type ReplayOptions,
  type ReplayPlaces,
  type ReplaySample,
  type ReplaySampleOptions,
} from './replay-buffer';
export {
  createSequenceReplay,
  type SequenceReplay,
  type SequenceReplayOptions,
  type SequenceSample,
} from './sequence-replay';
