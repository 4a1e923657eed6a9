import type { ActionSpace, AnyGame, ObservationField } from '@coplay/core';
import { actionLayout, choicesOf, highOf, isBox, kindOf, sizeOf, widthOf } from '@coplay/core/arrays';
import { type InputOptions, showsSelf } from '@coplay/models';
import { type TensorRecord, tf } from '@coplay/tensor';
import { centredImage } from './centred';

/** An agent's inputs, as tensors with the rows of a batch: fields of the observation, `mask` and `previousActions`. */
export interface SeenTensors {
  /** [B, ...shape] of each field */
  readonly fields: TensorRecord;
  readonly rows: number;
  /** [B, K] float32; not for a box */
  readonly mask?: tf.Tensor2D;
  /** [B, A] int32, in other spaces than discrete ones [B, A, W]; only where it's read */
  readonly previousActions?: tf.Tensor;
}

/**
 * What `inputEncoder(game, options)` of `@coplay/models` does on arrays, as operations on tensors: fields of rank 3
 * stay images, all else is one `vector` [B, F] of fields, mask, previous actions and the seat.
 */
export function encodeTensors(game: AnyGame, options: InputOptions, seat: number, seen: SeenTensors): TensorRecord {
  const { rows, fields, mask, previousActions } = seen;
  const names = options.fields ?? Object.keys(game.observation);
  const encoded: TensorRecord = {};
  const parts: tf.Tensor[] = [];
  for (const name of names) {
    const field = game.observation[name];
    const x = fieldTensor(field, fields[name]);
    const isCentred = options.centred && showsSelf(game, name);
    if (field.shape.length === 3) encoded[name] = isCentred ? centredImage(game, name, x as tf.Tensor4D) : x;
    else parts.push(tf.reshape(x, [rows, sizeOf(x.shape.slice(1))]));
  }
  if (options.mask) parts.push(mask!);
  if (options.previousActions) parts.push(previousCodes(game, previousActions!, seat));
  if (options.agentId) parts.push(seatCodes(rows, seat, game.agents.length));
  if (parts.length > 0) encoded['vector'] = parts.length === 1 ? parts[0] : tf.concat(parts, 1);
  return encoded;
}

/** A field as networks read it: images from 0 to 1, indices as one-hot codes behind one another along the last axis. */
function fieldTensor(field: ObservationField, values: tf.Tensor): tf.Tensor {
  const kind = kindOf(field);
  if (kind === 'image') return tf.div(tf.cast(values, 'float32'), highOf(field));
  if (kind !== 'indices') return tf.cast(values, 'float32');
  const classes = tf.range(0, field.classes as number, 1, 'int32');
  const codes = tf.cast(tf.equal(tf.expandDims(tf.cast(values, 'int32'), -1), classes), 'float32');
  const { shape } = codes;
  const last = shape.slice(-2).reduce((size, dimension) => size * dimension, 1);
  return tf.reshape(codes, field.shape.length === 0 ? [shape[0], last] : [...shape.slice(0, -2), last]);
}

/** The previous actions of all agents as networks read them, [B, F]. */
function previousCodes(game: AnyGame, actions: tf.Tensor, seat: number): tf.Tensor {
  if (typeof game.actions === 'number') return oneHots(actions as tf.Tensor2D, seat, game.actions);
  const { spaces } = actionLayout(game);
  const rows = actions.shape[0];
  const codes = spaces.map((_, i) => {
    const other = (seat + i) % spaces.length;
    const width = widthOf(spaces[other]);
    const own = tf.reshape(tf.slice(actions, [0, other, 0], [rows, 1, width]), [rows, width]);
    return actionCodes(spaces[other], own as tf.Tensor2D);
  });
  return tf.concat(codes, 1);
}

/** [B, w] actions of a space: those of a box as they are, options as one-hots; zeros for none. */
function actionCodes(space: ActionSpace, actions: tf.Tensor2D): tf.Tensor {
  if (isBox(space)) return tf.where(tf.equal(actions, actions), actions, tf.zerosLike(actions)); // NaN equals nothing
  const codes = choicesOf(space).map((count, i) => {
    const option = tf.slice(actions, [0, i], [actions.shape[0], 1]);
    return tf.cast(tf.equal(tf.cast(option, 'float32'), tf.range(0, count, 1, 'float32')), 'float32');
  });
  return tf.concat(codes, 1);
}

/** [B, A] actions as [B, A K] one-hots, the agent's own first, then in cyclic order of seats; zeros for -1. */
function oneHots(actions: tf.Tensor2D, seat: number, K: number): tf.Tensor {
  const [rows, agents] = actions.shape;
  const own = tf.slice(actions, [0, seat], [rows, agents - seat]);
  const ordered = seat === 0 ? actions : tf.concat([own, tf.slice(actions, [0, 0], [rows, seat])], 1);
  const isAction = tf.equal(tf.expandDims(ordered, -1), tf.range(0, K, 1, 'int32'));
  return tf.reshape(tf.cast(isAction, 'float32'), [rows, agents * K]);
}

/** [B, A] the one-hot of a seat in each row. */
function seatCodes(rows: number, seat: number, agents: number): tf.Tensor {
  const row = Array.from({ length: agents }, (_, i) => (i === seat ? 1 : 0));
  return tf.tile(tf.tensor2d([row]), [rows, 1]);
}
