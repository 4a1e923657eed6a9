import { fail, show } from '@coplay/core';
import { checkFunction } from '@coplay/core/checks';
import { applyModel, type LayersModel, readWeights, type TensorRecord, tf } from '@coplay/tensor';
import { flatSize, type InputShapes } from '../inputs';
import { flattenInputs } from './flatten';
import { type Torso, type TorsoBuilder, torsoBuilder } from './torso';

/**
 * A user's own `tf.LayersModel` as a torso. `build` is called once for each network that's made, with the shapes of the
 * inputs and their total size; the model has one input [flat size], or one input for each shape, named by it.
 *
 * Training keeps parameters of its own, so that several agents may share one model's structure: the model's weights are
 * where they start (its initialisers are the user's to seed). Trained ones are put back by
 * `writeWeights(model, await agent.learner.parameters(), 'actor/body')`, or `'actor/body/torso'` below a GRU.
 */
export function layersModel(build: (shapes: InputShapes, flatSize: number) => LayersModel): TorsoBuilder {
  checkFunction('layersModel', 'build', build);
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
    apply: (params, inputs) => call(model, shapes, params, inputs),
  };
}

function call(model: LayersModel, shapes: InputShapes, params: TensorRecord, inputs: TensorRecord): tf.Tensor2D {
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
  return applyModel(model, params, fed.length === 1 ? fed[0] : fed) as tf.Tensor2D;
}
