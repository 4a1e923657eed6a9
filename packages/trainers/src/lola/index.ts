export { memoryOneAgent } from './agent';
export { type IteratedGame, iteratedGame } from './iterated-game';
export { type IteratedGradients, iteratedGradients } from './iterated-gradients';
export { type Lola, type LolaOptions, lola } from './lola';
