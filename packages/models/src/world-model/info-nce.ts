import { tf } from '@coplay/tensor';

/**
 * InfoNCE, the contrastive loss of van den Oord, Li and Vinyals (2018): of the B targets of a minibatch, each
 * prediction should be most similar to its own. The other B - 1 targets are its negatives. Similarity is the cosine
 * divided by the temperature (Chen et al. 2020).
 *
 *   s[i, j] = (p_i . q_j) / (|p_i| |q_j| temperature)
 *   loss = mean over i of -log(exp s[i, i] / sum over j of exp s[i, j])
 *
 * @param predicted    [B, D]
 * @param targets      [B, D]
 * @param temperature  above 0
 * @returns a scalar, at least 0; log B where all similarities are equal
 */
export function infoNce(predicted: tf.Tensor2D, targets: tf.Tensor2D, temperature: number): tf.Scalar {
  const [p, q] = [unitLength(predicted), unitLength(targets)];
  const similarities = tf.div(tf.matMul(p, q, false, true), temperature); // [B, B]
  const own = tf.div(tf.sum(tf.mul(p, q), 1), temperature); // [B]
  return tf.mean(tf.sub(tf.logSumExp(similarities, 1), own)) as tf.Scalar;
}

/** Each row [B, D] divided by its length; rows of zeros stay zeros. */
function unitLength(rows: tf.Tensor2D): tf.Tensor2D {
  return tf.div(rows, tf.sqrt(tf.add(tf.sum(tf.square(rows), 1, true), 1e-12))) as tf.Tensor2D;
}
