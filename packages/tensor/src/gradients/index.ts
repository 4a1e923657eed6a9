export { stopGradient } from './stop-gradient';
export { type LossResult, type ValueAndGradients, valueAndGradients } from './value-and-gradients';
