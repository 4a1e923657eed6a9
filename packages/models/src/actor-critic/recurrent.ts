import { fail } from '@coplay/core';
import { mapColumns } from '@coplay/core/rows';
import { type TensorRecord, tf } from '@coplay/tensor';
import type { InputShapes } from '../inputs';
import { gru, prefixed, within } from '../layers';
import type { Torso } from '../torso';
import type { Body } from './body';
import type { RecordedRows } from './recorded-rows';

/** A torso followed by a GRU. */
export function recurrent(torso: Torso, shapes: InputShapes, units: number): Body {
  const memory = gru(torso.outputSize, units);

  const unroll = (params: TensorRecord, { inputs, isFirst, state }: RecordedRows) => {
    if (!isFirst || !state) {
      fail(
        'actorCritic',
        'isFirst and state for a recurrent network',
        'none',
        'Give sequences with the state they start from.',
      );
    }
    const [rows, steps] = isFirst.shape;
    const features = torso.apply(within('torso', params), flattenTime(shapes, inputs, rows * steps));
    const sequence = tf.reshape(features, [rows, steps, torso.outputSize]) as tf.Tensor3D;
    const states = memory.unroll(within('gru', params), sequence, isFirst, state);
    return { features: tf.reshape(states, [rows * steps, units]) as tf.Tensor2D, states };
  };

  return {
    outputSize: units,
    init: (generator) => ({
      ...prefixed('torso', torso.init(generator.fork())),
      ...prefixed('gru', memory.init(generator.fork())),
    }),
    step: (params, inputs, state) => {
      const features = torso.apply(within('torso', params), inputs);
      const next = memory.step(within('gru', params), features, state!);
      return { features: next, next };
    },
    unroll,
  };
}

/** [B, T, ...shape] to [B T, ...shape]. */
function flattenTime(shapes: InputShapes, inputs: TensorRecord, rows: number): TensorRecord {
  return mapColumns(shapes, (shape, name) => tf.reshape(inputs[name], [rows, ...shape]));
}
