export * from './agents';
export * from './classic';
export type { Place } from './game';
export * from './matrix';
export * from './render';
export * from './snowdrift';
export * from './stag-hunt';
export * from './wrappers';
