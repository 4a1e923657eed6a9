import * as tf from '@tensorflow/tfjs-core';
import { activate } from './activate';
import { withBias } from './bias';
import { compose, type KernelArguments, registeredKernel, replaceKernel, type WasmKernel } from './kernels';
import { batchSize, transposeLast } from './mat-mul';

/** The product, bias and activation of a dense layer of tfjs-layers. */
export function mendFusedMatMul(): void {
  const fused = registeredKernel('_FusedMatMul');
  replaceKernel('_FusedMatMul', (given) => fusedMatMul(fused, given));
}

/** act(a b + bias). The fused kernel takes one plain product; for others the parts are run one by one. */
function fusedMatMul(fused: WasmKernel, { inputs, attrs, backend }: KernelArguments): tf.TensorInfo {
  const { bias, preluActivationWeights: alpha } = inputs as Record<string, tf.TensorInfo | undefined>;
  return compose(backend, (run, own) => {
    const a = attrs['transposeA'] ? transposeLast(run, inputs['a']) : inputs['a'];
    const b = attrs['transposeB'] ? transposeLast(run, inputs['b']) : inputs['b'];
    if (batchSize(a) === 1 && batchSize(b) === 1) {
      // tfjs's kernel expects three dimensions, and writes anywhere in memory if there are two.
      const [a3, b3] = [a, b].map((x) => run('Reshape', { x }, { shape: [1, ...x.shape.slice(-2)] }));
      const result = withBias(backend, bias, (ownBias) =>
        fused({
          inputs: { a: a3, b: b3, ...(ownBias && { bias: ownBias }) },
          attrs: { ...attrs, activation: 'linear', transposeA: false, transposeB: false },
          backend,
        }),
      );
      const batch = tf.broadcast_util.assertAndGetBroadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
      return activate(run, own({ ...result, shape: [...batch, ...result.shape.slice(-2)] }), attrs, alpha);
    }
    const product = run('BatchMatMul', { a, b }, { transposeA: false, transposeB: false });
    const sum = bias ? run('Add', { a: product, b: bias }) : product;
    return activate(run, sum, attrs, alpha);
  });
}
