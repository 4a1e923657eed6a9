import type { tf } from '@coplay/tensor';
import type { RssmSizes } from './sizes';

/** Options of {@link rssm}. */
export interface RssmOptions extends RssmSizes {
  /** E, size of the encoder's output */
  readonly tokens: number;
  /** A, size of an action's code: the number of discrete options, or of continuous dimensions */
  readonly actions: number;
  /** Share of the uniform distribution in every latent's. Default 0.01 */
  readonly unimix?: number;
}

/** The state of B rows. */
export interface RssmState {
  /** h [B, D] */
  readonly deter: tf.Tensor2D;
  /** z [B, S, C], one-hot */
  readonly stoch: tf.Tensor3D;
}

/** The inputs of `Rssm.observe`. */
export interface RssmInputs {
  /** [B, T, E] of the encoder */
  readonly tokens: tf.Tensor3D;
  /** [B, T, A] the actions that led to these observations: index t holds the one taken after observation t - 1 */
  readonly actions: tf.Tensor3D;
  /** [B, T] 1 in the first step of an episode: state and action are zeroed before it */
  readonly isFirst: tf.Tensor2D;
}

/** What `Rssm.observe` returns. */
export interface RssmSequence {
  /** [B, T, D] */
  readonly deter: tf.Tensor3D;
  /** [B, T, S, C] samples of the posterior, with straight-through gradients */
  readonly stoch: tf.Tensor4D;
  /** [B, T, S, C] of the posterior, before the uniform share */
  readonly logits: tf.Tensor4D;
}
