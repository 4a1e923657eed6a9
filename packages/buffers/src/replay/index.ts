export { loadReplay } from './load';
export { createReplayBuffer, type ReplayBuffer, type ReplaySample } from './replay-buffer';
export { saveReplay } from './save';
export { createSequenceReplay, type SequenceReplay, type SequenceSample } from './sequence-replay';
