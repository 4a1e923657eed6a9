export {
  createReplayBuffer,
  type ReplayBuffer,
  type ReplayOptions,
  type ReplaySample,
  type ReplaySampleOptions,
} from './replay-buffer';
