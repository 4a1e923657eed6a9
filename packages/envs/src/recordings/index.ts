export { checkRecording } from './check';
export { decodeRecording, encodeRecording, readRecording, writeRecording } from './file';
export { recordEpisode } from './record-episode';
export { actionText, type RecordedStep, type Recording } from './recording';
export { replayEpisode } from './replay-episode';
