import { fail, type Generator, type NamedArrays } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { ofPart } from '@coplay/core/checks';
import { type TensorRecord, tf } from '@coplay/tensor';
import { flatSize, type InputShapes } from '../inputs';
import type { Torso, TorsoBuilder } from './torso';

/** What a user's network reads and predicts. */
interface OwnNetworkShapes {
  /** Shapes of its inputs, by name. */
  readonly inputs?: InputShapes;
  /** Numbers in addition to the inputs. Default 0 */
  readonly more?: number;
  /** Shapes of the arrays that it predicts, by name. Without them it makes features; the network decides how many. */
  readonly outputs?: InputShapes;
}

/** A user's network over inputs of any rank. */
export interface OwnNetwork {
  readonly outputSize: number;
  init(generator: Generator): NamedArrays;
  /**
   * @param inputs [N, ...shape] by name
   * @param more   [N, more]
   * @returns [N, outputSize]
   */
  apply(params: TensorRecord, inputs: TensorRecord, more?: tf.Tensor2D): tf.Tensor2D;
}

/**
 * Builds a user's network. It reads images [H, W, C] by name; all other inputs, and the numbers in addition to them,
 * are end to end in `vector`, as torsos expect.
 *
 * @param where  the option, for messages: `stateVae: option decoderNetwork`
 * @throws CoplayError where its output doesn't have the size of the arrays that it predicts
 */
export function ownNetwork(
  where: string,
  network: TorsoBuilder,
  { inputs: shapes = {}, more = 0, outputs }: OwnNetworkShapes,
): OwnNetwork {
  const names = Object.keys(shapes);
  const images = names.filter((name) => shapes[name].length === 3);
  const flat = names.filter((name) => !images.includes(name));
  const vectorSize = flat.reduce((sum, name) => sum + sizeOf(shapes[name]), more);
  if (vectorSize > 0 && images.includes('vector')) {
    const remedy = 'Rename the field: all flat numbers together are the input of that name.';
    fail(where, 'no image named vector next to flat inputs', 'one', remedy);
  }
  const read = {
    ...Object.fromEntries(images.map((name) => [name, shapes[name]])),
    ...(vectorSize > 0 && { vector: [vectorSize] }),
  };
  const torso = built(where, () => network(read, outputs));
  checkOutputs(where, torso.outputSize, outputs);
  return {
    outputSize: torso.outputSize,
    init: torso.init,
    apply: (params, inputs, added) => {
      const parts = flat.map((name) => tf.reshape(inputs[name], [-1, sizeOf(shapes[name])]));
      if (added) parts.push(added);
      return torso.apply(params, {
        ...Object.fromEntries(images.map((name) => [name, inputs[name]])),
        ...(parts.length > 0 && { vector: parts.length === 1 ? parts[0] : tf.concat(parts, 1) }),
      });
    },
  };
}

/** What a user's builder makes; its errors say for which option. */
function built(where: string, build: () => Torso): Torso {
  try {
    return build();
  } catch (error) {
    throw ofPart(where, error);
  }
}

function checkOutputs(where: string, size: number, outputs: InputShapes | undefined): void {
  if (!outputs || size === flatSize(outputs)) return;
  const wanted = Object.entries(outputs).map(([name, shape]) => `${name} [${shape.join(', ')}]`);
  const remedy =
    'Let the network have the outputs that its builder receives: mlp() has them, and build(shapes, outputs).';
  fail(where, `${flatSize(outputs)} outputs for ${wanted.join(', ')}`, String(size), remedy);
}
