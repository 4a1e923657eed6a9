export { type MatrixGameOptions, matrixGame } from './matrix-game';
export type { MatrixGameKind, PayoffTable } from './payoffs';
