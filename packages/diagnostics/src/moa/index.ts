export { type ClassScore, type MoaEvaluation, type MoaPredictions, moaEvaluation } from './evaluation';
export { type MoaFigures, moaFigures } from './figures';
export { moaArrays, moaCsv, writeMoaEvaluation } from './files';
