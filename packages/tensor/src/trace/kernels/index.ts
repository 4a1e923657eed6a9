import { registerArithmetic } from './arithmetic';
import { registerMatMul } from './mat-mul';
import { registerReductions } from './reductions';
import { registerShapes } from './shapes';
import { registerSoftmax } from './softmax';

let isRegistered = false;

/** Registers every kernel that can be traced; once. */
export function registerKernels(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerArithmetic();
  registerMatMul();
  registerReductions();
  registerShapes();
  registerSoftmax();
}
