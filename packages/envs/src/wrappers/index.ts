export { type LimitedViewOptions, limitedView } from './limited-view';
export { permuteSeats } from './permute-seats';
export { type RecordEpisodeOptions, recordEpisode } from './record-episode';
export type { RecordedFrame, RecordedStep, Recording } from './recording';
export { replayEpisode } from './replay-episode';
export { timeLimit } from './time-limit';
export { withPreviousActions } from './with-previous-actions';
