import * as tf from '@tensorflow/tfjs-core';
import { withBias } from './bias';
import { compose, type KernelArguments, type Run, registeredKernel, replaceKernel, type WasmKernel } from './kernels';
import { batchSize, transposeLast } from './mat-mul';

/** The product, bias and activation of a dense layer of tfjs-layers. */
export function mendFusedMatMul(): void {
  const fused = registeredKernel('_FusedMatMul');
  replaceKernel('_FusedMatMul', (given) => fusedMatMul(fused, given));
}

/** act(a b + bias). The fused kernel takes one plain product; for others the parts are run one by one. */
function fusedMatMul(fused: WasmKernel, { inputs, attrs, backend }: KernelArguments): tf.TensorInfo {
  const { bias, preluActivationWeights: alpha } = inputs as Record<string, tf.TensorInfo | undefined>;
  return compose(backend, (run) => {
    const a = attrs['transposeA'] ? transposeLast(run, inputs['a']) : inputs['a'];
    const b = attrs['transposeB'] ? transposeLast(run, inputs['b']) : inputs['b'];
    if (batchSize(a) === 1 && batchSize(b) === 1) {
      // tfjs's kernel expects three dimensions, and writes anywhere in memory if there are two.
      const [a3, b3] = [a, b].map((x) => run('Reshape', { x }, { shape: [1, ...x.shape.slice(-2)] }));
      const result = withBias(backend, bias, (ownBias) =>
        fused({
          inputs: { ...inputs, a: a3, b: b3, ...(ownBias && { bias: ownBias }) },
          attrs: { ...attrs, transposeA: false, transposeB: false },
          backend,
        }),
      );
      const batch = tf.broadcast_util.assertAndGetBroadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
      return { ...result, shape: [...batch, ...result.shape.slice(-2)] };
    }
    const product = run('BatchMatMul', { a, b }, { transposeA: false, transposeB: false });
    const sum = bias ? run('Add', { a: product, b: bias }) : product;
    return activate(run, sum, attrs, alpha);
  });
}

const ACTIVATION_KERNELS: Record<string, string> = {
  relu: 'Relu',
  relu6: 'Relu6',
  elu: 'Elu',
  sigmoid: 'Sigmoid',
  leakyrelu: 'LeakyRelu',
  prelu: 'Prelu',
};

function activate(run: Run, x: tf.TensorInfo, attrs: KernelArguments['attrs'], alpha?: tf.TensorInfo): tf.TensorInfo {
  const kernelName = ACTIVATION_KERNELS[attrs['activation'] as string];
  if (kernelName === undefined) return x; // linear
  if (kernelName === 'Prelu') return run(kernelName, { x, alpha: alpha! });
  return run(kernelName, { x }, { alpha: attrs['leakyreluAlpha'] });
}
