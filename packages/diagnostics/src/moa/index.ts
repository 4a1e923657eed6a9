export { type MoaEvaluation, moaEvaluation } from './evaluation';
export { moaFigures } from './figures';
export { writeMoaEvaluation } from './files';
