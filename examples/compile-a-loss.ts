/**
 * A network trained with a loss of your own, no reinforcement learning:
 * `npx tsx --conditions=@coplay/source examples/compile-a-loss.ts`
 *
 * Ten pictures of 8x8 pixels are to be told apart under shifts and noise. The network is a `tf.LayersModel`; the loss,
 * which tfjs doesn't have, is the focal loss of Lin et al. 2017; the step of training is compiled.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGenerator, type Generator, ndarray } from '@coplay/core';
import {
  adamW,
  applyModel,
  compile,
  executorInfo,
  readWeights,
  type StepFunction,
  type TensorRecord,
  tf,
  useBackend,
  valueAndGradients,
  variables,
  writeWeights,
} from '@coplay/tensor';
import { exportOnnx } from '@coplay/tensor/onnx';
import * as layers from '@tensorflow/tfjs-layers';

const CLASSES = 10;
const SIDE = 8;
const FOCUS = 2; // gamma of the focal loss: the larger, the less easy samples count

await useBackend();
console.log((await executorInfo()).reason);

const pictures = drawPictures(createGenerator(1));
const model = layers.sequential({
  layers: [
    layers.layers.dense({ inputShape: [SIDE * SIDE], units: 128, activation: 'relu', kernelInitializer: seeded(1) }),
    layers.layers.dense({ units: CLASSES, kernelInitializer: seeded(2) }),
  ],
});

// Parameters begin as the model's own; they and the optimiser's memory are shared by all functions below.
const initial = readWeights(model);
const optimiser = adamW({ weightDecay: 1e-4 });
const params = variables(initial);
const slots = variables(optimiser.init(initial));

/** -mean((1 - p)^gamma log p), p the probability of the right class [B]. */
function focalLoss(logits: tf.Tensor, labels: tf.Tensor): tf.Scalar {
  const oneHot = tf.cast(tf.oneHot(labels as tf.Tensor1D, CLASSES), 'float32');
  const logProbs = tf.sum(tf.mul(tf.logSoftmax(logits), oneHot), 1);
  return tf.neg(tf.mean(tf.mul(tf.pow(tf.sub(1, tf.exp(logProbs)), FOCUS), logProbs)) as tf.Scalar);
}

const trainStep: StepFunction<'params' | 'slots'> = (state, { images, labels }) => {
  const { loss, gradients } = valueAndGradients(
    (weights) => ({ loss: focalLoss(applyModel(model, weights, images), labels), metrics: {} }),
    state.params,
  );
  const next = optimiser.update(gradients, state.slots, state.params, 2e-3);
  return { state: { params: next.params, slots: next.slots }, outputs: { loss } };
};
const scores = ({ params: weights }: Record<'params', TensorRecord>, { images }: TensorRecord) => ({
  outputs: { logits: applyModel(model, weights, images) },
});

const train = compile(trainStep, { name: 'train', state: { params, slots } });
const judge = compile(scores, { name: 'judge', state: { params } });

const generator = createGenerator(2);
const test = sample(createGenerator(3), 500);
const steps = process.env['COPLAY_QUICK'] ? 100 : 600;
for (let step = 0; step <= steps; step++) {
  const { loss } = await train(sample(generator, 128));
  if (step % (steps / 5) > 0) continue;
  const { logits } = await judge({ images: test.images });
  const share = accuracy(logits.data, test.labels.data);
  console.log(`step ${step}: loss ${loss.data[0].toFixed(4)}, ${(100 * share).toFixed(1)} % of new pictures right`);
}

// The model receives the learned weights, so that predict and save use them.
writeWeights(model, await params.read());
const predicted = model.predict(tf.tensor2d(test.images.data, [500, SIDE * SIDE])) as tf.Tensor;
console.log(`the LayersModel itself: ${(100 * accuracy(predicted.dataSync(), test.labels.data)).toFixed(1)} %`);

const file = join(mkdtempSync(join(tmpdir(), 'coplay-')), 'pictures.onnx');
const { size } = await exportOnnx(scores, file, {
  name: 'pictures',
  state: { params },
  inputs: { images: { shape: ['batch', SIDE * SIDE], meaning: 'pixels, row by row' } },
});
console.log(`${file}: ${(size / 1024).toFixed(0)} KB, for ONNX Runtime in any language`);

function seeded(seed: number) {
  return layers.initializers.heNormal({ seed });
}

/** A random picture for each class. */
function drawPictures(random: Generator): Float32Array[] {
  return Array.from({ length: CLASSES }, () => Float32Array.from({ length: SIDE * SIDE }, () => random.integer(2)));
}

/** Pictures of random classes, each moved by up to one pixel (round the edge), with noise. */
function sample(random: Generator, rows: number) {
  const labels = Int32Array.from({ length: rows }, () => random.integer(CLASSES));
  const images = new Float32Array(rows * SIDE * SIDE);
  labels.forEach((label, row) => {
    const [down, right] = [random.integer(2), random.integer(2)];
    for (let i = 0; i < SIDE * SIDE; i++) {
      const from = ((Math.floor(i / SIDE) + down) % SIDE) * SIDE + ((i + right) % SIDE);
      images[row * SIDE * SIDE + i] = pictures[label][from] + 0.5 * random.normal();
    }
  });
  return { images: ndarray(images, [rows, SIDE * SIDE]), labels: ndarray(labels) };
}

/** The share of rows in which the right class has the largest number. */
function accuracy(logits: ArrayLike<number>, labels: ArrayLike<number>): number {
  let right = 0;
  for (let row = 0; row < labels.length; row++) {
    const own = Array.from({ length: CLASSES }, (_, k) => logits[row * CLASSES + k]);
    if (own.indexOf(Math.max(...own)) === labels[row]) right++;
  }
  return right / labels.length;
}
