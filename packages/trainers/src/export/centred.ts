import type { AnyGame } from '@coplay/core';
import { tf } from '@coplay/tensor';

/**
 * What `centredEncoder` of `@coplay/models` does on arrays, as operations on tensors. Moving an image by whole cells is
 * a product with a matrix of zeros and ones from either side, made of the row and the column of the agent.
 *
 * @param image  [B, H, W, C]
 * @returns [B, 2H - 1, 2W - 1, C + 1]
 */
export function centredImage(game: AnyGame, name: string, image: tf.Tensor4D): tf.Tensor4D {
  const { shape, channels = [] } = game.observation[name];
  const [height, width, depth] = shape;
  const rows = image.shape[0];
  const self = tf.slice(image, [0, 0, 0, channels.indexOf('self')], [rows, height, width, 1]);
  const own = tf.cast(tf.greater(tf.reshape(self, [rows, height, width]), 0), 'float32') as tf.Tensor3D;
  const down = shifts(tf.max(own, 2) as tf.Tensor2D, height); // [B, 2H - 1, H]
  const right = shifts(tf.max(own, 1) as tf.Tensor2D, width); // [B, 2W - 1, W]
  const seen = tf.concat([image, tf.onesLike(self)], 3); // the last channel: 1 on the board
  const vertically = tf.matMul(down, tf.reshape(seen, [rows, height, width * (depth + 1)]));
  const turned = tf.transpose(tf.reshape(vertically, [rows, 2 * height - 1, width, depth + 1]), [0, 2, 1, 3]);
  const both = tf.matMul(right, tf.reshape(turned, [rows, width, (2 * height - 1) * (depth + 1)]));
  const moved = tf.transpose(tf.reshape(both, [rows, 2 * width - 1, 2 * height - 1, depth + 1]), [0, 2, 1, 3]);
  const cells = [rows, 2 * height - 1, 2 * width - 1];
  const inside = tf.slice(moved, [0, 0, 0, depth], [...cells, 1]);
  const isThere = tf.reshape(tf.max(own, [1, 2]), [rows, 1, 1, 1]);
  const outside = tf.mul(isThere, tf.sub(1, inside));
  return tf.concat([tf.slice(moved, [0, 0, 0, 0], [...cells, depth]), outside], 3) as tf.Tensor4D;
}

/** For the one-hots [B, n] of an agent's place, [B, 2n - 1, n]: 1 where the second index moves to the first. */
function shifts(place: tf.Tensor2D, size: number): tf.Tensor3D {
  const moves = new Float32Array(size * (2 * size - 1) * size);
  for (let own = 0; own < size; own++) {
    for (let from = 0; from < size; from++) moves[(own * (2 * size - 1) + (from + size - 1 - own)) * size + from] = 1;
  }
  const table = tf.tensor2d(moves, [size, (2 * size - 1) * size]);
  return tf.reshape(tf.matMul(place, table), [place.shape[0], 2 * size - 1, size]);
}
