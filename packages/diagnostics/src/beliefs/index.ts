export { beliefFigure } from './figure';
export { type BeliefLine, beliefLine, priorLine } from './lines';
