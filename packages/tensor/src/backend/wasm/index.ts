import { mendBiases } from './bias';
import { borrowKernels } from './borrow';
import { speedUpColumnSums } from './column-sum';
import { mendConv2DGradients } from './conv2d-gradients';
import { mendFusedMatMul } from './fused-mat-mul';
import { guardKernels } from './guards';
import { mendMatMul } from './mat-mul';
import { mendMemoryKernels } from './memory';
import { addUnsortedSegmentSum } from './segment-sum';
import { speedUpTanh } from './tanh';

/** Makes tfjs's wasm backend complete, right and fast. To be called once, after the backend has started. */
export function mendWasm(): void {
  mendMemoryKernels();
  mendBiases();
  mendMatMul();
  mendFusedMatMul();
  speedUpTanh();
  speedUpColumnSums();
  mendConv2DGradients();
  addUnsortedSegmentSum();
  borrowKernels();
  guardKernels();
}
