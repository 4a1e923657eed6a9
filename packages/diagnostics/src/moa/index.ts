export { type MoaEvaluation, moaEvaluation } from './evaluation';
export { moaFigures } from './figures';
export { moaArrays, moaCsv, writeMoaEvaluation } from './files';
