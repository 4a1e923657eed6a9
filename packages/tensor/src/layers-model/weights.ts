import { fail, type NamedArrays } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import type { LayersModel } from './layers-model';

/** Weights are identified by their position: tfjs renames layers without notice. */
export function weightName(position: number): string {
  return `weight_${position}`;
}

/**
 * A copy of a model's trainable weights as parameters `weight_0`, `weight_1`, ..., in the order of
 * `model.trainableWeights`.
 */
export function readWeights(model: LayersModel): NamedArrays {
  const params: NamedArrays = {};
  model.trainableWeights.forEach((weight, i) => {
    const value = weight.read();
    params[weightName(i)] = { data: Float32Array.from(value.dataSync()), shape: value.shape };
  });
  return params;
}

/**
 * Puts parameters back into a model, so that `model.predict` and `model.save` use the trained values. Weights that
 * aren't trainable, such as batch normalisation's moving averages, stay as they are.
 *
 * @param params  as {@link readWeights} names them; others are ignored
 * @param under   what comes before their names, such as `actor/body` among the parameters of an agent
 * @throws CoplayError if one is missing or has another shape; the model is as it was then
 */
export function writeWeights(model: LayersModel, params: NamedArrays, under?: string): void {
  const names = model.trainableWeights.map((_, i) => (under ? `${under}/` : '') + weightName(i));
  for (const [i, weight] of model.trainableWeights.entries()) checkWeight(names[i], weight.shape as number[], params);
  model.trainableWeights.forEach((weight, i) => {
    const { data, shape } = params[names[i]];
    const value = tf.tensor(data as Float32Array, [...shape]);
    weight.write(value);
    value.dispose();
  });
}

function checkWeight(name: string, shape: readonly number[], params: NamedArrays): void {
  const given = params[name];
  const expected = `a parameter ${name} of shape [${shape}]`;
  const remedy =
    'Give the parameters of a model of this form, and what comes before their names: writeWeights(model, params, under).';
  if (!given) fail('writeWeights', expected, Object.keys(params).join(', ') || 'none', remedy);
  if (!tf.util.arraysEqual([...given.shape], [...shape]))
    fail('writeWeights', expected, `one of [${given.shape}]`, remedy);
}
