export { checkRecording } from './check';
export { decodeRecording, encodeRecording, readRecording, writeRecording } from './file';
export { type RecordEpisodeOptions, recordEpisode } from './record-episode';
export type {
  RecordedFrame,
  RecordedInsight,
  RecordedObservation,
  RecordedPrediction,
  RecordedStep,
  Recording,
} from './recording';
export { replayEpisode } from './replay-episode';
