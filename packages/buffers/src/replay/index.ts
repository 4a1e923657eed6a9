export { type LoadReplayOptions, loadReplay } from './load';
export {
  createReplayBuffer,
  type ReplayBuffer,
  type ReplayOptions,
  type ReplayPlaces,
  type ReplaySample,
  type ReplaySampleOptions,
} from './replay-buffer';
export { type ReplaySaving, type SaveReplayOptions, saveReplay } from './save';
export {
  createSequenceReplay,
  type SequenceReplay,
  type SequenceReplayOptions,
  type SequenceSample,
} from './sequence-replay';
