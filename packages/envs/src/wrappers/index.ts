export { type LimitedViewOptions, limitedView } from './limited-view';
export { permuteSeats } from './permute-seats';
export { type RecordEpisodeOptions, recordEpisode } from './record-episode';
export type {
  RecordedFrame,
  RecordedInsight,
  RecordedObservation,
  RecordedPrediction,
  RecordedStep,
  Recording,
} from './recording';
export { checkRecording } from './recording-check';
export { decodeRecording, encodeRecording, readRecording, writeRecording } from './recording-file';
export { replayEpisode } from './replay-episode';
export { timeLimit } from './time-limit';
export { withAgentId } from './with-agent-id';
export { withPreviousActions } from './with-previous-actions';
