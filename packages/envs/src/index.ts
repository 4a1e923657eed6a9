export * from './agents';
export * from './classic';
export * from './matrix';
export * from './render';
export * from './snowdrift';
export * from './stag-hunt';
export * from './wrappers';
