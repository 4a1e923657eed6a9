import * as tf from '@tensorflow/tfjs-core';

let ours: readonly tf.GradConfig[] | undefined;

/**
 * Gradients that tfjs lacks, or that fail when one operand is broadcast to the other's shape. To be called again after
 * something that imports all of tfjs, such as tfjs-node: that puts tfjs's own back.
 */
export function mendGradients(): void {
  ours ??= [
    ...zeroGradients(),
    ...broadcastGradients(),
    productGradient(tf.getGradient('BatchMatMul')),
    unstackGradient(),
    cumulativeSumGradient(),
  ];
  for (const gradient of ours) {
    if (tf.getGradient(gradient.kernelName) === gradient) continue;
    if (tf.getGradient(gradient.kernelName)) tf.unregisterGradient(gradient.kernelName);
    tf.registerGradient(gradient);
  }
}

/** Kernels whose output doesn't change with small changes of their inputs, and for which tfjs registers no gradient. */
const PIECEWISE_CONSTANT = [
  'Greater',
  'GreaterEqual',
  'Less',
  'LessEqual',
  'Equal',
  'NotEqual',
  'LogicalAnd',
  'LogicalOr',
] as const;

/** Without these `where(greater(a, b), x, y)` throws inside a gradient. */
function zeroGradients(): tf.GradConfig[] {
  const binary = PIECEWISE_CONSTANT.map(
    (kernelName): tf.GradConfig => ({
      kernelName,
      inputsToSave: ['a', 'b'],
      gradFunc: (_dy, saved) => {
        const [a, b] = saved as [tf.Tensor, tf.Tensor];
        return { a: () => zerosFor(a), b: () => zerosFor(b) };
      },
    }),
  );
  const not: tf.GradConfig = {
    kernelName: 'LogicalNot',
    inputsToSave: ['x'],
    gradFunc: (_dy, saved) => ({ x: () => zerosFor((saved as tf.Tensor[])[0]!) }),
  };
  return [...binary, not];
}

/** tfjs demands float32 of every gradient, also of a boolean's. */
function zerosFor(x: tf.Tensor): tf.Tensor {
  return tf.zeros(x.shape);
}

/** tfjs returns these gradients in the shape of the result, and then refuses them where an operand is smaller. */
function broadcastGradients(): tf.GradConfig[] {
  return [
    binaryGradient('Maximum', (dy, a, b) => [mask(dy, tf.greaterEqual(a, b)), mask(dy, tf.less(a, b))]),
    binaryGradient('Minimum', (dy, a, b) => [mask(dy, tf.lessEqual(a, b)), mask(dy, tf.greater(a, b))]),
    binaryGradient('SquaredDifference', (dy, a, b) => {
      const slope = tf.mul(dy, tf.mul(tf.sub(a, b), 2));
      return [slope, tf.neg(slope)];
    }),
  ];
}

/** A gradient out of a function that gives both parts in the shape of the result. */
function binaryGradient(
  kernelName: string,
  parts: (dy: tf.Tensor, a: tf.Tensor, b: tf.Tensor) => [tf.Tensor, tf.Tensor],
): tf.GradConfig {
  return {
    kernelName,
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, saved) => {
      const [a, b] = saved as [tf.Tensor, tf.Tensor];
      return {
        a: () => sumTo(parts(dy as tf.Tensor, a, b)[0], a.shape),
        b: () => sumTo(parts(dy as tf.Tensor, a, b)[1], b.shape),
      };
    },
  };
}

/** The same for a product of a batch of matrices with a single one. */
function productGradient(original: tf.GradConfig): tf.GradConfig {
  return {
    ...original,
    gradFunc: (dy, saved, attrs) => {
      const [a, b] = saved as [tf.Tensor, tf.Tensor];
      const whole = original.gradFunc(dy, saved, attrs);
      return { a: () => sumTo(whole['a']!(), a.shape), b: () => sumTo(whole['b']!(), b.shape) };
    },
  };
}

/**
 * tfjs hands over the gradient of a single output as a tensor, not as a list, and its own gradient then fails to stack
 * it.
 */
function unstackGradient(): tf.GradConfig {
  return {
    kernelName: 'Unpack',
    gradFunc: (dy, _saved, attrs) => {
      const slices = Array.isArray(dy) ? dy : [dy];
      return { value: () => tf.stack(slices, (attrs as unknown as { axis: number }).axis) };
    },
  };
}

/** tfjs moves the axis to the end once more, which is right only if it's there already. */
function cumulativeSumGradient(): tf.GradConfig {
  return {
    kernelName: 'Cumsum',
    gradFunc: (dy, _saved, attrs) => {
      const { axis, exclusive, reverse } = attrs as unknown as { axis: number; exclusive: boolean; reverse: boolean };
      return { x: () => tf.cumsum(dy as tf.Tensor, axis, exclusive, !reverse) };
    },
  };
}

function mask(dy: tf.Tensor, condition: tf.Tensor): tf.Tensor {
  return tf.mul(dy, tf.cast(condition, 'float32'));
}

/** Sums a gradient over the dimensions in which its operand was repeated. */
function sumTo(gradient: tf.Tensor, shape: number[]): tf.Tensor {
  const axes = tf.broadcast_util.getReductionAxes(shape, gradient.shape);
  return axes.length === 0 ? gradient : tf.reshape(tf.sum(gradient, axes), shape);
}
