export type { GameRule, Violation } from './findings';
export { assertGame, type GameContractOptions, gameContract } from './game-contract';
