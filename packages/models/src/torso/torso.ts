import { checkShapes, fail, type Generator, type NamedArrays, show } from '@coplay/core';
import { checkArgument, checkFunction, checkNumbers, functions, namedArrays } from '@coplay/core/checks';
import type { TensorRecord, tf } from '@coplay/tensor';
import { z } from 'zod';
import { flatSize, type InputShapes, shapesSchema } from '../inputs';

/** The body of a network: from everything it reads to one vector of features. */
export interface Torso {
  readonly outputSize: number;
  init(generator: Generator): NamedArrays;
  /**
   * @param inputs one tensor [B, ...shape] for each of the input shapes; float32
   * @returns [B, outputSize]
   */
  apply(params: TensorRecord, inputs: TensorRecord): tf.Tensor2D;
}

/**
 * A user's choice of a network: makes a torso for given shapes of inputs. Where `outputs` is given, the network
 * predicts arrays of these shapes: its features are them, flattened, end to end, in the order of `outputs`. `config`
 * describes it in run directories.
 */
export interface TorsoBuilder {
  (shapes: InputShapes, outputs?: InputShapes): Torso;
  readonly config: Readonly<Record<string, unknown>>;
}

const configSchema = z.record(z.string(), z.unknown());
const torsoSchema = z.looseObject({ outputSize: z.int().min(1), init: functions(), apply: functions() });

/**
 * Adds the description to the function. What `build` returns is checked: the torso itself, its fresh parameters, which
 * must be finite, and its features [B, outputSize].
 */
export function torsoBuilder(
  config: Record<string, unknown>,
  build: (shapes: InputShapes, outputs?: InputShapes) => Torso,
): TorsoBuilder {
  checkArgument('torsoBuilder', 'config', configSchema, config);
  checkFunction('torsoBuilder', 'build', build);
  return builderNamed('torsoBuilder', config, build);
}

function builderNamed(
  where: string,
  config: Record<string, unknown>,
  build: (shapes: InputShapes, outputs?: InputShapes) => Torso,
): TorsoBuilder {
  const builder = (shapes: InputShapes, outputs?: InputShapes) => {
    checkSizes(where, 'shapes', shapes);
    if (outputs !== undefined) checkSizes(where, 'outputs', outputs);
    return checkedTorso(build(shapes, outputs));
  };
  return Object.assign(builder, { config });
}

function checkSizes(where: string, name: string, shapes: InputShapes): void {
  checkArgument(where, name, shapesSchema, shapes);
  if (flatSize(shapes) > 0) return;
  fail(`${where}: ${name}`, 'shapes with at least one number', show(shapes), 'Give a shape such as { vector: [2] }.');
}

const builtIn = new WeakSet<object>();
const builderIds = new WeakMap<object, number>();
let builderCount = 0;

/**
 * A builder of the library's own: builders with equal `config` build equal torsos. `kind` is the function's name.
 */
export function builtInTorso(
  config: { readonly kind: string; readonly [option: string]: unknown },
  build: (shapes: InputShapes, outputs?: InputShapes) => Torso,
): TorsoBuilder {
  const builder = builderNamed(config.kind, config, build);
  builtIn.add(builder);
  return builder;
}

/**
 * A number that distinguishes builders whose `config` doesn't: 0 for `mlp()` and `conv()`, whose `config` says which
 * torso they build; for each other function a number of its own, because two functions with equal `config` may build
 * different torsos. Learners may share a graph only if their builders have equal `config` and equal numbers.
 */
export function torsoBuilderId(builder: TorsoBuilder): number {
  checkFunction('torsoBuilderId', 'builder', builder);
  if (builtIn.has(builder)) return 0;
  if (!builderIds.has(builder)) builderIds.set(builder, ++builderCount);
  return builderIds.get(builder)!;
}

function checkedTorso(torso: Torso): Torso {
  checkArgument('torsoBuilder', 'build(shapes)', torsoSchema, torso);
  const { outputSize } = torso;
  return {
    outputSize,
    init: (generator) => {
      const params = torso.init(generator);
      checkArgument('torsoBuilder: init', 'params', namedArrays, params);
      for (const [name, { data }] of Object.entries(params)) checkNumbers('torsoBuilder: init', name, data);
      return params;
    },
    apply: (params, inputs) => {
      const features = torso.apply(params, inputs);
      checkShapes('torsoBuilder: apply', { features }, `B ${outputSize}`);
      if (features.dtype !== 'float32') {
        const remedy = "End the network with tf.cast(features, 'float32'), and give it gradients.";
        fail('torsoBuilder: apply', 'features of dtype float32', features.dtype, remedy);
      }
      return features;
    },
  };
}
