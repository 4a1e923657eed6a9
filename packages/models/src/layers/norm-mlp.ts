import { checkShapes } from '@coplay/core';
import { checkCount, checkText } from '@coplay/core/checks';
import { type TensorRecord, tf } from '@coplay/tensor';
import { activate } from './activations';
import { linearSpecs, type ParamSpec, type ParamSpecs } from './param-specs';
import { checkParams, paramOf } from './params';
import { checkNorm, rmsNorm } from './rms-norm';

/** A stack of linear layers, each followed by RMSNorm and SiLU, as all of DreamerV3's networks are. */
export interface NormMlp {
  readonly outputSize: number;
  readonly specs: ParamSpecs;
  /**
   * @param x [B, inputSize]
   * @returns [B, outputSize]
   */
  apply(params: TensorRecord, x: tf.Tensor2D): tf.Tensor2D;
}

/** Parameters of one layer `name`: `name/kernel`, `name/bias` and, of its norm, `name/scale`. */
export function normLayerSpecs(name: string, inputSize: number, outputSize: number): Record<string, ParamSpec> {
  checkText('normLayerSpecs', 'name', name);
  checkCount('normLayerSpecs', 'inputSize', inputSize, 1);
  checkCount('normLayerSpecs', 'outputSize', outputSize, 1);
  const { kernel, bias } = linearSpecs(inputSize, outputSize);
  return { [`${name}/kernel`]: kernel, [`${name}/bias`]: bias, [`${name}/scale`]: { shape: [outputSize], start: 1 } };
}

/**
 * SiLU(RMSNorm(x W + b)) with the parameters `name/kernel`, `name/bias` and `name/scale` of {@link normLayerSpecs}.
 *
 * @param x [B, in]
 * @returns [B, out]
 * @throws CoplayError for a parameter that is missing or has another shape
 */
export function normLayer(params: TensorRecord, name: string, x: tf.Tensor2D): tf.Tensor2D {
  const y = affine('normLayer', params, name, x);
  return normed(y, paramOf('normLayer', params, `${name}/scale`, [y.shape[1]]));
}

/**
 * x W + b with `name/kernel` [in, out] and `name/bias` [out].
 *
 * @param x [B, in]
 * @returns [B, out]
 * @throws CoplayError for a parameter that is missing or has another shape
 */
export function linear(params: TensorRecord, name: string, x: tf.Tensor2D): tf.Tensor2D {
  return affine('linear', params, name, x);
}

function affine(where: string, params: TensorRecord, name: string, x: tf.Tensor2D): tf.Tensor2D {
  checkText(where, 'name', name);
  checkShapes(where, { x }, 'B in');
  const kernel = paramOf<tf.Tensor2D>(where, params, `${name}/kernel`, [x.shape[1], -1]); // [in, out]
  return tf.add(tf.matMul(x, kernel), paramOf<tf.Tensor1D>(where, params, `${name}/bias`, [kernel.shape[1]]));
}

/** SiLU(RMSNorm(x)). */
export function normed<T extends tf.Tensor>(x: T, scale: tf.Tensor, axes?: number | number[]): T {
  checkNorm('normed', x, scale, axes);
  return activate('silu', rmsNorm(x, scale, axes));
}

/** `layers` times linear, RMSNorm, SiLU; parameters `0/kernel`, `0/bias`, `0/scale`, `1/kernel`, ... */
export function normMlp(inputSize: number, units: number, layers: number): NormMlp {
  checkCount('normMlp', 'inputSize', inputSize, 1);
  checkCount('normMlp', 'units', units, 1);
  checkCount('normMlp', 'layers', layers);
  const names = Array.from({ length: layers }, (_, i) => String(i));
  return {
    outputSize: layers === 0 ? inputSize : units,
    specs: Object.assign({}, ...names.map((name, i) => normLayerSpecs(name, i === 0 ? inputSize : units, units))),
    apply: (params, x) => {
      checkParams('normMlp.apply', params);
      checkShapes('normMlp.apply', { x }, `B ${inputSize}`);
      return names.reduce((h, name) => normLayer(params, name, h), x);
    },
  };
}
