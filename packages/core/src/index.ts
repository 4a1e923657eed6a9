export * from './advantages';
export * from './agent';
export * from './arrays';
export * from './check-agents';
export * from './check-experience';
export * from './check-game';
export * from './check-rewards';
export {
  checkCount,
  checkFunction,
  checkNumber,
  checkNumbers,
  checkRecord,
  checkText,
  checkTypedArray,
  isPlainRecord,
  type NumberRange,
  type NumbersRange,
} from './check-values';
export * from './checks';
export * from './copies';
export * from './errors';
export * from './escape-markup';
export * from './evaluate';
export * from './experience';
export * from './game';
export * from './game-contract';
export * from './generator';
export { checkGenerator } from './generator';
export * from './goals';
export * from './grid-parts';
export * from './imagine';
export * from './json';
export * from './metrics';
export * from './observations';
export * from './one-at-a-time';
export * from './other-views';
export * from './parallel-env';
export * from './restore-parts';
export * from './returns';
export * from './reward-scaler';
export * from './rollout';
export * from './running-moments';
export * from './schedules';
export * from './seats';
export * from './shapes';
export * from './simulator';
export type { ArrayOf, DType, NamedArrays, NDArray, TypedArray } from './typed-arrays';
export * from './value-norm';
export * from './vector-env';
