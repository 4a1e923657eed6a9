import { kernel } from '../kernel';

/** Softmax kernels, over the last axis. */
export function registerSoftmax(): void {
  kernel('Softmax', ({ inputs: { logits }, graph }) => graph.op('Softmax', [logits], logits!, { axis: -1 }));
  kernel('LogSoftmax', ({ inputs: { logits }, graph }) => graph.op('LogSoftmax', [logits], logits!, { axis: -1 }));
}
