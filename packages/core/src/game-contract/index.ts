export type { GameRule, Severity, Violation } from './findings';
export { assertGame, type GameContractOptions, gameContract } from './game-contract';
