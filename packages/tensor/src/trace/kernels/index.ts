import { registerActivations } from './activations';
import { registerArithmetic } from './arithmetic';
import { registerConstants } from './constants';
import { registerConvolutions } from './conv';
import { registerIndexing } from './indexing';
import { registerLogic } from './logic';
import { registerMatMul } from './mat-mul';
import { registerNormalisation } from './normalise';
import { registerPadding } from './padding';
import { registerPool } from './pool';
import { registerRanking } from './ranking';
import { registerReductions } from './reductions';
import { registerRefusals } from './refused';
import { registerResize } from './resize';
import { registerScans } from './scans';
import { registerShapes } from './shapes';
import { registerUnary } from './unary';

let isRegistered = false;

/** Registers every kernel that can be traced; once. */
export function registerKernels(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerActivations();
  registerArithmetic();
  registerConstants();
  registerConvolutions();
  registerIndexing();
  registerLogic();
  registerMatMul();
  registerNormalisation();
  registerPadding();
  registerPool();
  registerRanking();
  registerReductions();
  registerRefusals();
  registerResize();
  registerScans();
  registerShapes();
  registerUnary();
}
