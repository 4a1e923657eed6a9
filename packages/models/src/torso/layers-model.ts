import { fail, type NamedArrays, show } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import type { LayersModel } from '@tensorflow/tfjs-layers';
import { flatSize, type InputShapes } from '../inputs';
import { flattenInputs } from './flatten';
import { type Torso, type TorsoBuilder, torsoBuilder } from './torso';

/**
 * A user's own `tf.LayersModel` as a torso. `build` is called once for each network that's made, with the shapes of the
 * inputs and their total size; the model has one input [flat size], or one input for each shape, named by it.
 *
 * Training keeps parameters of its own, so that several agents may share one model's structure: the model's weights are
 * where they start (its initialisers are the user's to seed), and {@link writeWeights} puts trained ones back.
 */
export function layersModel(build: (shapes: InputShapes, flatSize: number) => LayersModel): TorsoBuilder {
  return torsoBuilder({ kind: 'layers-model', name: build.name || 'anonymous' }, (shapes) => {
    if (!tf.engine().backendName) {
      fail('layersModel', 'a backend in use', 'none', 'Call `await useBackend()` before you make the agent.');
    }
    const model = build(shapes, flatSize(shapes));
    return wrap(model, shapes);
  });
}

function wrap(model: LayersModel, shapes: InputShapes): Torso {
  if (!Array.isArray(model?.outputs)) fail('layersModel', 'a tf.LayersModel', show(model), 'Return it from build.');
  const outputSize = model.outputs[0]?.shape.at(-1);
  if (model.outputs.length !== 1 || model.outputs[0].shape.length !== 2 || typeof outputSize !== 'number') {
    const got = model.outputs.map((output) => `[${output.shape}]`).join(', ');
    fail('layersModel', 'a model with one output of shape [batch, features]', got, 'End the model with a flat layer.');
  }
  return {
    outputSize,
    init: () => readWeights(model),
    apply: (params, inputs) => withWeights(model, params, () => call(model, shapes, inputs)),
  };
}

function call(model: LayersModel, shapes: InputShapes, inputs: TensorRecord): tf.Tensor2D {
  const wanted = model.inputNames; // empty for a Sequential that was never called
  const isNamed = wanted.length > 0 && wanted.every((name) => name in shapes);
  if (!isNamed && wanted.length > 1) {
    fail(
      'layersModel',
      `inputs named ${Object.keys(shapes).join(', ')}`,
      show(wanted),
      'Name the inputs of the model so.',
    );
  }
  const fed = isNamed ? wanted.map((name) => inputs[name]) : [flattenInputs(shapes, inputs)];
  return model.apply(fed.length === 1 ? fed[0] : fed, { training: false }) as tf.Tensor2D;
}

/** Weights are told apart by their position: tfjs renames layers behind the user's back. */
function keyOf(position: number): string {
  return `weight_${position}`;
}

/** A copy of a model's trainable weights as parameters `weight_0`, `weight_1`, ... */
export function readWeights(model: LayersModel): NamedArrays {
  const params: NamedArrays = {};
  model.trainableWeights.forEach((weight, i) => {
    const value = weight.read();
    params[keyOf(i)] = { data: Float32Array.from(value.dataSync()), shape: value.shape };
  });
  return params;
}

/** Puts parameters back into a model, so that `model.predict` and `model.save` see what was trained. */
export function writeWeights(model: LayersModel, params: NamedArrays): void {
  model.trainableWeights.forEach((weight, i) => {
    const array = params[keyOf(i)];
    if (!array)
      fail('writeWeights', `a parameter ${keyOf(i)}`, show(Object.keys(params)), 'Give the parameters of this model.');
    const value = tf.tensor(array.data as Float32Array, [...array.shape]);
    weight.write(value);
    value.dispose();
  });
}

/**
 * Runs `body` while the model reads its weights from `params` instead of its own variables. A layer asks its weight by
 * `read()`: that one method is lent for the time of the call.
 */
function withWeights<T>(model: LayersModel, params: TensorRecord, body: () => T): T {
  const lent = model.trainableWeights as { read(): tf.Tensor }[];
  const own = lent.map((weight) => Object.getOwnPropertyDescriptor(weight, 'read'));
  lent.forEach((weight, i) => {
    weight.read = () => params[keyOf(i)];
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
