import { createGenerator, type NamedArrays } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { cellsWorldModel, conv, layersModel, mlp, planesWorldModel, type TorsoBuilder } from '@coplay/models';
import {
  type DreamerNetsOptions,
  type DreamerObservations,
  dreamerNets,
  worldModelLosses,
} from '@coplay/models/dreamer';
import {
  convStack,
  flatSize,
  initialise,
  linear,
  linearSpecs,
  normMlp,
  prefixed,
  torsoBuilder,
  within,
} from '@coplay/models/layers';
import { type OmgNetOptions, stateVae, subgoalInference } from '@coplay/models/omg';
import { type TensorRecord, tf, useBackend, valueAndGradients } from '@coplay/tensor';
import * as layers from '@tensorflow/tfjs-layers';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('cpu');
});

const tensors = (arrays: NamedArrays): TensorRecord =>
  Object.fromEntries(Object.entries(arrays).map(([name, { data, shape }]) => [name, tf.tensor(data, [...shape])]));

const random = (seed: number, shape: number[]) => tf.randomNormal(shape, 0, 1, 'float32', seed);
const flags = (seed: number, shape: number[]) => tf.cast(tf.greater(random(seed, shape), 0), 'float32');

/** The same parameters under other names, each given once. */
function renamed(params: NamedArrays, nameOf: (name: string) => string): NamedArrays {
  return Object.fromEntries(Object.entries(params).map(([name, array]) => [nameOf(name), array]));
}

/** Dense layers with ReLU, and a linear one where there are outputs: what OMG's own perceptrons are. */
const denseModel = (hidden: readonly number[]) =>
  layersModel((_shapes, inputs, outputs) => {
    const model = layers.sequential();
    hidden.forEach((units, i) => {
      model.add(layers.layers.dense({ units, activation: 'relu', ...(i === 0 && { inputShape: [inputs] }) }));
    });
    if (outputs) model.add(layers.layers.dense({ units: flatSize(outputs) }));
    return model;
  });

/** `0/kernel` of layers in a row to `weight_0` of a `LayersModel`. */
const toWeight = (name: string) =>
  name.replace(/(\d+)\/(kernel|bias)$/, (_, layer, part) => `weight_${2 * Number(layer) + Number(part === 'bias')}`);

describe.each<[string, (hidden: readonly number[]) => TorsoBuilder, (name: string) => string]>([
  ['mlp()', (hidden) => mlp({ hidden, activation: 'relu' }), (name) => name],
  ['a LayersModel', denseModel, toWeight],
])('OMG with %s of the form of its own networks', (_, networkOf, nameOf) => {
  const plain: OmgNetOptions = {
    inputs: { planes: [2, 2, 2], vector: [3] },
    flags: 2,
    actions: 3,
    goalDim: 2,
    hidden: [5, 4],
    stateUnits: 4,
    historyUnits: 3,
    occupiedWeight: 4,
  };
  const own = {
    ...plain,
    encoderNetwork: networkOf([5, 4]),
    decoderNetwork: networkOf([5, 4]),
    inferenceNetwork: networkOf([4]),
  };
  const rows = () => ({
    inputs: { planes: flags(1, [6, 2, 2, 2]), vector: flags(2, [6, 3]) },
    masks: tf.ones([6, 3]) as tf.Tensor2D,
    actions: tf.tensor1d([0, 1, 2, 2, 1, 0], 'int32'),
    isFirst: tf.tensor2d([1, 0, 0, 1, 0, 1], [2, 3]),
    state: random(3, [2, 3]) as tf.Tensor2D,
  });
  const noise = () => random(4, [6, 2]) as tf.Tensor2D;
  const weights = () => tf.tensor1d([1, 1, 0, 1, 0.5, 1]);

  // Its action head is a custom network's with another start: the same form.
  it.each(['reconstruction', 'action'] as const)('gives the same losses from the same weights: VAE, %s', (loss) => {
    const vae = stateVae({ ...plain, loss });
    const other = stateVae({ ...own, loss });
    const params = vae.init(createGenerator(1));
    // Encoder: two hidden layers are the body, the third is the head.
    const moved = renamed(params, (name) =>
      nameOf(name.replace(/^encoder\/2/, 'encoder/head').replace(/^(encoder|decoder)\/(\d)/, '$1/body/$2')),
    );
    const [expected, got] = [
      vae.loss(tensors(params), rows(), noise(), weights()),
      other.loss(tensors(moved), rows(), noise(), weights()),
    ];
    expect(Object.keys(other.init(createGenerator(1))).sort()).toEqual(Object.keys(moved).sort());
    expect(got.loss.dataSync()).toEqual(expected.loss.dataSync());
    expect(got.metrics!['kl'].dataSync()).toEqual(expected.metrics!['kl'].dataSync());
    const latents = [vae.encode(tensors(params), rows().inputs), other.encode(tensors(moved), rows().inputs)];
    expect(latents[1].mean.dataSync()).toEqual(latents[0].mean.dataSync());
  });

  it.each(['reconstruction', 'action'] as const)('gives the same losses: inference, %s', (loss) => {
    const inference = subgoalInference({ ...plain, loss });
    const other = subgoalInference({ ...own, loss });
    const params = inference.init(createGenerator(1));
    const moved = renamed(params, (name) =>
      nameOf(name.replace(/^state\//, 'state/body/0/').replace(/^decoder\/(\d)/, 'decoder/body/$1')),
    );
    const prior = { mean: random(5, [6, 2]) as tf.Tensor2D, logVar: tf.zeros([6, 2]) as tf.Tensor2D };
    const targets = () => ({ prior, noise: noise(), weights: weights() });
    const expected = inference.loss(tensors(params), rows(), targets());
    const got = other.loss(tensors(moved), rows(), targets());
    expect(Object.keys(other.init(createGenerator(1))).sort()).toEqual(Object.keys(moved).sort());
    expect(got.loss.dataSync()).toEqual(expected.loss.dataSync());
    const stepped = [inference, other].map((net, i) =>
      net.step(tensors([params, moved][i]), { planes: flags(1, [2, 2, 2, 2]), vector: flags(2, [2, 3]) }, rows().state),
    );
    expect(stepped[1].next.dataSync()).toEqual(stepped[0].next.dataSync());
    const { gradients } = valueAndGradients((p) => other.loss(p, rows(), targets()), tensors(moved));
    for (const name of Object.keys(moved)) {
      if (!name.endsWith('body/weight_0') && !name.endsWith('body/0/kernel')) continue;
      expect([name, gradients[name].dataSync().some((g) => g !== 0)]).toEqual([name, true]);
    }
  });
});

/** A network that keeps the shapes that it was built for, and predicts its biases. */
function biases(seen: unknown[], size = 2): TorsoBuilder {
  return torsoBuilder({ kind: 'biases' }, (shapes, outputs) => {
    seen.push({ shapes, outputs });
    const outputSize = outputs ? flatSize(outputs) : size;
    return {
      outputSize,
      init: () => ({
        bias: { data: Float32Array.from({ length: outputSize }, (_, i) => i / 4 - 1), shape: [outputSize] },
      }),
      apply: (params, inputs) => {
        const rows = Object.values(inputs)[0].shape[0];
        return tf.add(tf.zeros([rows, outputSize]), params['bias']) as tf.Tensor2D;
      },
    };
  });
}

describe('the inputs of networks of one’s own', () => {
  it('are images by name and everything else in vector, the latent last', () => {
    const inputs = { held: [2], planes: [2, 2, 1], vector: [3] };
    const net = (seen: unknown[], loss: OmgNetOptions['loss'] = 'reconstruction'): OmgNetOptions => ({
      ...{ inputs, actions: 4, goalDim: 2, historyUnits: 3, loss },
      ...{ encoderNetwork: biases(seen), decoderNetwork: biases(seen), inferenceNetwork: biases(seen) },
    });
    const state = { shapes: { planes: [2, 2, 1], vector: [5] }, outputs: undefined };
    const [vae, inference, head] = [[], [], []] as unknown[][];
    stateVae(net(vae));
    expect(vae).toEqual([state, { shapes: { vector: [2] }, outputs: inputs }]);
    subgoalInference(net(inference));
    expect(inference).toEqual([state, { shapes: { vector: [2 + 3] }, outputs: inputs }]);
    stateVae(net(head, 'action'));
    expect(head[1]).toEqual({ shapes: { planes: [2, 2, 1], vector: [5 + 2] }, outputs: { actions: [4] } });
  });

  it('have their values: a network that copies them', () => {
    const copy = torsoBuilder({ kind: 'copy' }, (shapes) => ({
      outputSize: flatSize(shapes),
      init: () => ({}),
      apply: (_params, { planes, vector }) => tf.concat([tf.reshape(planes, [1, -1]), vector], 1) as tf.Tensor2D,
    }));
    const nets = dreamerNets({
      observations: {
        b: { kind: 'vector', size: 2 },
        a: { kind: 'discrete', classes: 3 },
        planes: { kind: 'image', shape: [1, 2, 1], high: 10 },
      },
      actions: { kind: 'discrete', count: 2 },
      size: 'debug',
      encoderNetwork: copy,
      decoderNetwork: mlp({ hidden: [] }),
    });
    const tokens = nets.encoder.apply(
      {},
      { a: tf.tensor1d([1], 'int32'), b: tf.tensor2d([[0, Math.E - 1]]), planes: tf.tensor4d([5, 10], [1, 1, 2, 1]) },
    );
    // Pixels / 10, the code of class 1, symlog(x) = ln(1 + x).
    [0.5, 1, 0, 1, 0, 0, 1].forEach((x, i) => void expect(tokens.dataSync()[i]).toBeCloseTo(x, 6));
  });
});

describe('DreamerV3 with networks of the form of its own', () => {
  const observations: DreamerObservations = {
    board: { kind: 'planes', shape: [2, 2, 1] },
    position: { kind: 'vector', size: 3 },
  };
  const common: DreamerNetsOptions = { observations, actions: { kind: 'discrete', count: 2 }, size: 'debug' };
  const plain = dreamerNets(common);
  const { units, layers: count } = plain.sizes;
  /** Flat inputs in the order that DreamerV3 reads them in, which is by name. */
  const encoderNetwork = torsoBuilder({ kind: 'norm-mlp' }, (shapes) => {
    const body = normMlp(flatSize(shapes), units, count);
    return {
      outputSize: body.outputSize,
      init: (generator) => initialise(body.specs, generator),
      apply: (params, { board, vector }) => {
        return body.apply(params, tf.concat([tf.reshape(board, [-1, 4]), vector], 1) as tf.Tensor2D);
      },
    };
  });
  const decoderNetwork = torsoBuilder({ kind: 'norm-mlp' }, (shapes, outputs = {}) => {
    const body = normMlp(flatSize(shapes), units, count);
    const heads = Object.entries(outputs).map(
      ([name, shape]) => [name, linearSpecs(units, flatSize({ shape }))] as const,
    );
    return {
      outputSize: flatSize(outputs),
      init: (generator) =>
        Object.assign(
          prefixed('mlp', initialise(body.specs, generator)),
          ...heads.map(([name, specs]) => prefixed(`head/${name}`, initialise(specs, generator))),
        ),
      apply: (params, { vector }) => {
        const features = body.apply(within('mlp', params), vector as tf.Tensor2D);
        return tf.concat(
          heads.map(([name]) => linear(params, `head/${name}`, features)),
          1,
        ) as tf.Tensor2D;
      },
    };
  });
  const own = dreamerNets({ ...common, encoderNetwork, decoderNetwork });

  it('gives the same losses and reconstructions from the same weights, and teaches them', () => {
    const params = plain.init(createGenerator(1));
    const moved = renamed(params, (name) => name.replace(/^enc\/mlp/, 'enc/body').replace(/^dec/, 'dec/body'));
    expect(Object.keys(own.init(createGenerator(1))).sort()).toEqual(Object.keys(moved).sort());
    const [B, T] = [2, 3];
    const batch = {
      observations: { board: flags(1, [B, T, 2, 2, 1]), position: random(2, [B, T, 3]) },
      actions: tf.zeros([B, T, 2]) as tf.Tensor3D,
      rewards: random(3, [B, T]) as tf.Tensor2D,
      isFirst: tf.tensor2d([1, 0, 0, 1, 0, 0], [B, T]),
      isTerminal: tf.zeros([B, T]) as tf.Tensor2D,
    };
    const noise = tf.fill([B, T, plain.sizes.stoch], 0.4) as tf.Tensor3D;
    const lossesOf = (nets: typeof plain, given: TensorRecord) =>
      worldModelLosses(nets, given, batch, nets.rssm.initial(B), noise).losses;
    const [expected, got] = [lossesOf(plain, tensors(params)), lossesOf(own, tensors(moved))];
    for (const name of Object.keys(expected)) {
      expect([name, ...got[name].dataSync()]).toEqual([name, ...expected[name].dataSync()]);
    }
    const { gradients } = valueAndGradients((given) => {
      const losses = lossesOf(own, given);
      return { loss: tf.sum(tf.addN(Object.values(losses))) as tf.Scalar };
    }, tensors(moved));
    for (const name of ['enc/body/0/kernel', 'dec/body/mlp/0/kernel', 'dec/body/head/board/kernel']) {
      expect([name, gradients[name].dataSync().some((g) => g !== 0)]).toEqual([name, true]);
    }
  });

  it('takes outputs for logits and means, by kind of observation', () => {
    const everything: DreamerObservations = {
      position: { kind: 'vector', size: 1 },
      which: { kind: 'discrete', classes: 2 },
      board: { kind: 'planes', shape: [2] },
      pixels: { kind: 'image', shape: [1, 1, 2], high: 10 },
    };
    const seen: unknown[] = [];
    const nets = dreamerNets({
      ...common,
      observations: everything,
      encoderNetwork: biases([]),
      decoderNetwork: biases(seen),
    });
    const F = nets.rssm.featureSize;
    const outputs = { board: [2], position: [1], which: [2], pixels: [1, 1, 2] };
    expect(seen).toEqual([{ shapes: { vector: [F] }, outputs }]); // by name, images last
    const { dec } = nets.parts(tensors(nets.init(createGenerator(1)))); // -1, -0.75, ..., 0.5
    const { deter, stoch, classes } = nets.sizes;
    const made = nets.decoder.apply(dec, { deter: tf.zeros([1, deter]), stoch: tf.zeros([1, stoch * classes]) });
    const losses = nets.decoder.losses(made, {
      position: tf.tensor2d([[Math.E - 1]]),
      which: tf.tensor1d([1], 'int32'),
      board: tf.tensor2d([[0, 1]]),
      pixels: tf.tensor4d([0, 10], [1, 1, 1, 2]),
    });
    const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
    const expected = {
      board: -Math.log(1 - sigmoid(-1)) - Math.log(sigmoid(-0.75)),
      position: (-0.5 - 1) ** 2,
      which: Math.log(Math.exp(-0.25) + 1) - 0,
      pixels: sigmoid(0.25) ** 2 + (sigmoid(0.5) - 1) ** 2,
    };
    for (const [name, loss] of Object.entries(expected)) expect(losses[name].dataSync()[0], name).toBeCloseTo(loss, 5);
    expect([...nets.decoder.predictions(made)['pixels'].dataSync()][1]).toBeCloseTo(10 * sigmoid(0.5), 4);
  });

  it('takes a LayersModel with an output for each observation, by name, such as of transposed convolutions', () => {
    const network = layersModel((_shapes, inputs, outputs) => {
      const { conv2dTranspose, dense, reshape } = layers.layers;
      expect(outputs).toEqual({ position: [3], pixels: [4, 4, 2] });
      const x = layers.input({ shape: [inputs] });
      const small = reshape({ targetShape: [2, 2, 1] }).apply(dense({ units: 4 }).apply(x)) as layers.SymbolicTensor;
      const position = dense({ units: 3, name: 'position' }).apply(x) as layers.SymbolicTensor;
      const pixels = conv2dTranspose({ filters: 2, kernelSize: 2, strides: 2, name: 'pixels' }).apply(small);
      return layers.model({ inputs: x, outputs: [pixels as layers.SymbolicTensor, position] }); // in another order
    });
    const nets = dreamerNets({
      ...common,
      observations: { position: { kind: 'vector', size: 3 }, pixels: { kind: 'image', shape: [4, 4, 2] } },
      encoderNetwork: conv({ filters: [2], dense: 4 }),
      decoderNetwork: network,
    });
    const { dec } = nets.parts(tensors(nets.init(createGenerator(1))));
    const { deter, stoch, classes } = nets.sizes;
    const state = { deter: random(1, [5, deter]) as tf.Tensor2D, stoch: tf.zeros([5, stoch * classes]) as tf.Tensor2D };
    const made = nets.decoder.apply(dec, state);
    expect([made['position'].shape, made['pixels'].shape]).toEqual([
      [5, 3],
      [5, 32],
    ]);
    // Of the dense layer that gives the position.
    const kernel = Object.values(dec).find(({ shape }) => shape[1] === 3)!;
    expect(kernel.shape).toEqual([deter + stoch * classes, 3]);
    const expected = tf.matMul(tf.concat([state.stoch, state.deter], 1) as tf.Tensor2D, kernel as tf.Tensor2D);
    expected.dataSync().forEach((x, i) => void expect(made['position'].dataSync()[i]).toBeCloseTo(x, 5));
  });
});

describe('grid models with a network of the form of their convolutions', () => {
  const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
  const rowsOf = () => ({
    cells: tf.tensor2d([[0, 4]], [1, 2], 'int32'),
    things: flags(1, [1, 2, 9]),
    fixed: tf.zeros([1, 1, 9]),
    actions: tf.tensor2d([[1, 2]], [1, 2], 'int32'),
    rewards: tf.tensor2d([[1, 0]]),
    'next/cells': tf.tensor2d([[0, 4]], [1, 2], 'int32'),
    'next/things': flags(2, [1, 2, 9]),
  });
  const own = torsoBuilder({ kind: 'own' }, ({ planes }) => {
    const stack = convStack({ shape: planes, filters: [3] });
    return { ...stack, apply: (params, inputs) => stack.apply(params, inputs['planes'] as tf.Tensor4D) };
  });
  const model = layersModel(({ planes }) =>
    layers.sequential({
      layers: [
        layers.layers.reshape({ inputShape: [flatSize({ planes })], targetShape: [...planes] }),
        layers.layers.conv2d({ filters: 3, kernelSize: 3, padding: 'same', activation: 'relu' }),
        layers.layers.flatten(),
      ],
    }),
  );

  it.each([
    ['planesWorldModel', planesWorldModel],
    ['cellsWorldModel', cellsWorldModel],
  ] as const)('%s gives the same loss', (_, modelOf) => {
    const plain = modelOf({ filters: [3], hidden: 5 })(game);
    const params = plain.init(createGenerator(1));
    const expected = plain.loss(tensors(params), rowsOf()).loss.dataSync();
    const one = modelOf({ network: own, hidden: 5 })(game);
    expect(one.init(createGenerator(1))).toEqual(params);
    expect(one.loss(tensors(params), rowsOf()).loss.dataSync()).toEqual(expected);
    const other = modelOf({ network: model, hidden: 5 })(game);
    const moved = renamed(params, (name) => (name.startsWith('trunk/') ? toWeight(name) : name));
    expect(Object.keys(other.init(createGenerator(1))).sort()).toEqual(Object.keys(moved).sort());
    expect(other.loss(tensors(moved), rowsOf()).loss.dataSync()).toEqual(expected);
    expect(other.config).toMatchObject({ network: { kind: 'layers-model' }, hidden: 5 });
  });

  it.each([
    ['planesWorldModel', planesWorldModel],
    ['cellsWorldModel', cellsWorldModel],
  ] as const)('%s refuses features that cells cannot share, and sizes of the convolutions', (name, modelOf) => {
    expect(() => modelOf({ network: mlp({ hidden: [10] }) })(game)).toThrow(
      new RegExp(`^${name}: option network: expected as many features for each of 3 x 3 cells.*got 10 features`),
    );
    expect(() => modelOf({ network: own, filters: [3] })).toThrow(/none next to filters or kernelSize/);
  });
});

describe('a network of one’s own that does not fit is refused when it is made', () => {
  const inputs = { planes: [2, 2, 1], vector: [3] };
  const net: OmgNetOptions = { inputs, actions: 2, goalDim: 2 };
  const dense = (units: number, more: object = {}) => layers.layers.dense({ units, ...more });
  const sequential = (first: layers.layers.Layer, ...more: layers.layers.Layer[]) =>
    layers.sequential({ layers: [first, ...more] });

  it.each<[string, () => unknown, RegExp]>([
    [
      'a decoder of another size',
      () => stateVae({ ...net, decoderNetwork: torsoBuilder({}, () => mlp({ hidden: [6] })({ vector: [2] })) }),
      /^stateVae: option decoderNetwork: expected 7 outputs for planes \[2, 2, 1\], vector \[3\], got 6\. Let the network/,
    ],
    [
      'a LayersModel with an output of another size',
      () =>
        stateVae({ ...net, decoderNetwork: layersModel((_, size) => sequential(dense(6, { inputShape: [size] }))) }),
      /^stateVae: option decoderNetwork: layersModel: expected one output \[batch, 7\], or the outputs planes \[batch, 2, 2, 1\], vector \[batch, 3\], got .*\[batch, 6\]\. Build/,
    ],
    [
      'an input of another size',
      () => stateVae({ ...net, encoderNetwork: layersModel(() => sequential(dense(6, { inputShape: [9] }))) }),
      /^stateVae: option encoderNetwork: layersModel: expected an input \[batch, 7\], got \[batch, 9\]\. Build/,
    ],
    [
      'inputs of whole numbers',
      () =>
        stateVae({
          ...net,
          encoderNetwork: layersModel((_, size) => {
            const x = layers.input({ shape: [size], dtype: 'int32' });
            return layers.model({ inputs: x, outputs: dense(2).apply(x) as layers.SymbolicTensor });
          }),
        }),
      /^stateVae: option encoderNetwork: layersModel: expected inputs of dtype float32, got int32\. Leave out/,
    ],
    [
      'a layer without a gradient',
      () =>
        stateVae({
          ...net,
          encoderNetwork: layersModel((_, size) => sequential(dense(2, { inputShape: [size] }), new TopLayer({}))),
        }),
      /^stateVae: option encoderNetwork: layersModel: expected layers that run on the inputs and have gradients, got .*gradient function not found for TopK\. Replace/,
    ],
    [
      'features of whole numbers',
      () => {
        const torso = torsoBuilder({}, () => ({
          outputSize: 1,
          init: () => ({}),
          apply: () => tf.zeros([1, 1], 'int32') as tf.Tensor2D,
        }))({ vector: [1] });
        torso.apply({}, { vector: tf.zeros([1, 1]) });
      },
      /^torsoBuilder: apply: expected features of dtype float32, got int32/,
    ],
    [
      'an image named vector next to other inputs',
      () => stateVae({ ...net, inputs: { vector: [2, 2, 1], flag: [1] }, encoderNetwork: mlp() }),
      /^stateVae: option encoderNetwork: expected no image named vector next to flat inputs, got one/,
    ],
    ['no network', () => stateVae({ ...net, encoderNetwork: 'mlp' as never }), /^stateVae: .*encoderNetwork/],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(message);
  });
});

/** The largest number, which is found by an operation that tfjs can't differentiate. */
class TopLayer extends layers.layers.Layer {
  static readonly className = 'TopLayer';

  override computeOutputShape(shape: layers.Shape): layers.Shape {
    return shape;
  }

  override call(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
    return tf.tidy(() => tf.topk(Array.isArray(inputs) ? inputs[0] : inputs, 2).values);
  }
}
