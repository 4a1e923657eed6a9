export { type InterruptSignal, interruptSignal } from './interrupt';
export type { SelfPlayOptions } from './options';
export type { PartnerOptions } from './partners';
export { type SelfPlay, selfPlay } from './run';
