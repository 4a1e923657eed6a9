import { fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import type { TensorRecord } from '../compile/convert';
import { isTracing } from '../trace';
import type { LayersModel, LayersModelWeight } from './layers-model';
import { weightName } from './weights';

/**
 * A model's outputs for inputs if its trainable weights are `params`: a `LayersModel` as a function of its parameters,
 * which can be compiled and differentiated. The model itself isn't changed; {@link writeWeights} does that.
 *
 * Layers work as in `model.predict`: dropout does nothing, and batch normalisation uses its moving averages. Moving
 * averages, and all other weights that aren't trainable, keep their values in the model; a compiled function keeps the
 * values at the time of its trace.
 *
 * @param params  as {@link readWeights} names them; of another group of parameters take its part first
 * @param inputs  one tensor [B, ...] for each input of the model
 */
export function applyModel(model: LayersModel, params: TensorRecord, inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
  const outputs = applyModelOutputs(model, params, inputs);
  if (outputs.length === 1) return outputs[0];
  const remedy = 'Call applyModelOutputs, which gives a list.';
  return fail('applyModel', 'a model with one output', `${outputs.length} outputs`, remedy);
}

/** The same for a model with several outputs. */
export function applyModelOutputs(
  model: LayersModel,
  params: TensorRecord,
  inputs: tf.Tensor | tf.Tensor[],
): tf.Tensor[] {
  const made = withWeights(model, params, () => model.apply(inputs, { training: false }));
  return (Array.isArray(made) ? made : [made]) as tf.Tensor[];
}

/**
 * Runs `body` while the model reads its weights from `params` instead of its own variables. A layer asks its weight by
 * `read()`: that one method is lent for the time of the call.
 */
function withWeights<T>(model: LayersModel, params: TensorRecord, body: () => T): T {
  const trainable = model.trainableWeights;
  const others = isTracing() ? model.nonTrainableWeights : [];
  const lent = [...trainable, ...others];
  const own = lent.map((weight) => Object.getOwnPropertyDescriptor(weight, 'read'));
  for (const weight of others) lendConstant(weight);
  trainable.forEach((weight, i) => {
    weight.read = () => params[weightName(i)] ?? missing(weightName(i), params);
  });
  try {
    return body();
  } finally {
    lent.forEach((weight, i) => {
      const before = own[i];
      if (before) Object.defineProperty(weight, 'read', before);
      else Reflect.deleteProperty(weight, 'read');
    });
  }
}

/** A traced function refuses variables of others; this one is meant to be a constant. */
function lendConstant(weight: LayersModelWeight): void {
  const value = weight.read();
  const data = value.dataSync();
  weight.read = () => tf.tensor(data, value.shape, value.dtype);
}

function missing(name: string, params: TensorRecord): never {
  const got = Object.keys(params).join(', ') || 'none';
  return fail('applyModel', `a parameter ${name}`, got, 'Give all of readWeights(model).');
}
