export { type BeliefFigureOptions, beliefFigure } from './figure';
export { type BeliefLine, type BeliefRecord, beliefLine, priorLine } from './lines';
