import { fail, type NamedArrays, show } from '@coplay/core';
import { checkFunction } from '@coplay/core/checks';
import { mapColumns } from '@coplay/core/rows';
import {
  applyModelOutputs,
  type LayersModel,
  readWeights,
  type TensorRecord,
  tf,
  valueAndGradients,
} from '@coplay/tensor';
import { flatSize, type InputShapes } from '../inputs';
import { flattenInputs } from './flatten';
import { type Torso, type TorsoBuilder, torsoBuilder } from './torso';

/**
 * A user's own `tf.LayersModel` as a torso. `build` is called once for each network that's made, with the shapes of
 * the inputs and their total size; the model has one input [flat size], or one input for each shape, named by it. It
 * has one output [features]. A network that predicts arrays, such as a decoder, also receives their shapes,
 * `outputs`: its model has one output of their total size, in their order, or one output [...shape] for each of them,
 * named by it.
 *
 * The model runs once on zeros, with gradients, before any agent is made. One whose shapes or dtypes don't fit, or with
 * a layer that doesn't run or has no gradient, is refused.
 *
 * Training keeps parameters of its own, so that several agents may share one model's structure: the model's weights are
 * where they start (its initialisers are the user's to seed). Trained ones are put back by
 * `writeWeights(model, await agent.learner.parameters(), 'actor/body')`, or `'actor/body/torso'` below a GRU.
 */
export function layersModel(
  build: (shapes: InputShapes, flatSize: number, outputs?: InputShapes) => LayersModel,
): TorsoBuilder {
  checkFunction('layersModel', 'build', build);
  return torsoBuilder({ kind: 'layers-model', name: build.name || 'anonymous' }, (shapes, outputs) => {
    if (!tf.engine().backendName) {
      fail('layersModel', 'a backend in use', 'none', 'Call `await useBackend()` before you make the agent.');
    }
    const model = build(shapes, flatSize(shapes), outputs);
    return wrap(model, shapes, outputs);
  });
}

function wrap(model: LayersModel, shapes: InputShapes, outputs: InputShapes | undefined): Torso {
  if (!Array.isArray(model?.outputs)) fail('layersModel', 'a tf.LayersModel', show(model), 'Return it from build.');
  const order = outputs ? orderOfOutputs(model, outputs) : [0];
  const outputSize = outputs ? flatSize(outputs) : sizeOfFeatures(model);
  const feed = feedsOf(model, shapes);
  checkFloats(model);
  const torso: Torso = {
    outputSize,
    init: () => readWeights(model),
    apply: (params, inputs) => {
      const made = applyModelOutputs(model, params, feed(inputs));
      if (!outputs) return made[0] as tf.Tensor2D;
      const flat = order.map((i) => tf.reshape(made[i], [made[i].shape[0], -1]));
      return (flat.length === 1 ? flat[0] : tf.concat(flat, 1)) as tf.Tensor2D;
    },
  };
  runOnce(torso, readWeights(model), shapes);
  return torso;
}

/** Features of a model with one flat output. */
function sizeOfFeatures({ outputs }: LayersModel): number {
  const size = outputs[0]?.shape.at(-1);
  if (outputs.length === 1 && outputs[0].shape.length === 2 && typeof size === 'number') return size;
  const got = outputs.map((output) => `[${output.shape}]`).join(', ');
  return fail(
    'layersModel',
    'a model with one output of shape [batch, features]',
    got,
    'End the model with a flat layer.',
  );
}

/** Places of the model's outputs in the order of the arrays that it predicts. */
function orderOfOutputs({ outputs: made, outputNames = [] }: LayersModel, outputs: InputShapes): number[] {
  const names = Object.keys(outputs);
  const total = flatSize(outputs);
  if (
    made.length === 1 &&
    (fits(made[0].shape, [total]) || (names.length === 1 && fits(made[0].shape, outputs[names[0]])))
  ) {
    return [0];
  }
  const order = names.map((name) => outputNames.indexOf(name));
  const isNamed =
    made.length === names.length && order.every((i, k) => i >= 0 && fits(made[i].shape, outputs[names[k]]));
  if (isNamed) return order;
  const wanted = names.map((name) => `${name} [batch, ${outputs[name].join(', ')}]`).join(', ');
  const got = made.map(({ shape }, i) => `${outputNames[i] ?? 'one'} ${batched(shape)}`).join(', ');
  const remedy = 'Build the model for the outputs that build receives, and give its last layers their names.';
  return fail('layersModel', `one output [batch, ${total}], or the outputs ${wanted}`, got, remedy);
}

/** How the model's inputs are taken from the network's: by name, or all of them flattened. */
function feedsOf(model: LayersModel, shapes: InputShapes): (inputs: TensorRecord) => tf.Tensor | tf.Tensor[] {
  const wanted = model.inputNames; // empty for a Sequential that was never called
  const isNamed = wanted.length > 0 && wanted.every((name) => name in shapes);
  if (!isNamed && wanted.length > 1) {
    const remedy = 'Name the inputs of the model so.';
    fail('layersModel', `inputs named ${Object.keys(shapes).join(', ')}`, show(wanted), remedy);
  }
  const given = isNamed ? wanted.map((name) => shapes[name]) : [[flatSize(shapes)]];
  given.forEach((shape, i) => {
    const own = model.inputs[i].shape;
    if (fits(own, shape)) return;
    const remedy = 'Build the model for the shapes and the size that build receives, and name inputs of several axes.';
    fail('layersModel', `an input [batch, ${shape.join(', ')}]`, batched(own), remedy);
  });
  return (inputs) => {
    const fed = isNamed ? wanted.map((name) => inputs[name]) : [flattenInputs(shapes, inputs)];
    return fed.length === 1 ? fed[0] : fed;
  };
}

/** Whether a layer's shape is [batch, ...shape], where null is any size. */
function fits(own: readonly (number | null)[], shape: readonly number[]): boolean {
  return own.length === shape.length + 1 && shape.every((size, i) => own[i + 1] === null || own[i + 1] === size);
}

function batched(shape: readonly (number | null)[]): string {
  return `[batch, ${shape.slice(1).join(', ')}]`;
}

function checkFloats({ inputs, outputs }: LayersModel): void {
  for (const [what, all] of Object.entries({ inputs, outputs })) {
    const other = all.find(({ dtype }) => dtype !== undefined && dtype !== 'float32');
    if (!other) continue;
    const remedy = 'Leave out the dtype of its layers: a layer that needs whole numbers can cast them.';
    fail('layersModel', `${what} of dtype float32`, String(other.dtype), remedy);
  }
}

/** Runs it on two rows of zeros, with the gradients of its weights. */
function runOnce(torso: Torso, params: NamedArrays, shapes: InputShapes): void {
  try {
    tf.tidy(() => {
      const weights = mapColumns(params, ({ data, shape }) => tf.tensor(data as Float32Array, [...shape]));
      const inputs = mapColumns(shapes, (shape) => tf.zeros([2, ...shape]));
      const lossOf = (weights: TensorRecord) => ({ loss: tf.sum(torso.apply(weights, inputs)) as tf.Scalar });
      if (Object.keys(weights).length > 0) valueAndGradients(lossOf, weights);
      else lossOf(weights);
    });
  } catch (error) {
    const remedy = 'Replace the layer that needs it, or write the network with torsoBuilder.';
    const got = (error as Error).message.replace(/\.$/, '');
    fail('layersModel', 'layers that run on the inputs and have gradients', got, remedy);
  }
}
