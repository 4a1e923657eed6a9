export { concatRows, gatherRows } from '@coplay/core/rows';
export * from './episodes';
export * from './moa';
export * from './npz';
export * from './omg';
export * from './ppo';
export * from './records';
export * from './replay';
export * from './transitions';
