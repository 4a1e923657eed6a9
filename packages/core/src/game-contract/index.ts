export type { Violation } from './findings';
export { assertGame, gameContract } from './game-contract';
