export type { BestEvaluation } from './evaluations';
export { type InterruptSignal, interruptSignal } from './interrupt';
export type { SelfPlayOptions, TrainingCallbacks, TrainingMoment } from './options';
export type { PartnerOptions } from './partners';
export { type SelfPlay, selfPlay } from './run';
