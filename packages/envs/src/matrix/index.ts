export { matrixGame } from './matrix-game';
