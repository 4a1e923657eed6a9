export { type EpisodeTracker, episodeTracker } from './episode-tracker';
export { type InterruptSignal, interruptSignal } from './interrupt';
export type { SelfPlayOptions } from './options';
export { type SelfPlay, selfPlay, type TrainOptions } from './run';
