import { fail, type NamedArrays, ndarray } from '@coplay/core';
import { checkArgument, checkNumber, checkRecord, namedArrays } from '@coplay/core/checks';
import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';
import type { TensorRecord } from '../compile/convert';
import { countOf } from './flat';

/** Two pure functions: the slots to begin with, and one step. */
export interface Optimiser {
  /** The slots for parameters of these shapes. */
  init(params: NamedArrays): NamedArrays;
  /** One step downhill. All tensors are new; none of the arguments is changed. */
  update(
    gradients: TensorRecord,
    slots: TensorRecord,
    params: TensorRecord,
    learningRate: tf.Scalar | number,
  ): OptimiserUpdate;
}

/** What {@link Optimiser.update} returns. */
export interface OptimiserUpdate {
  readonly params: TensorRecord;
  readonly slots: TensorRecord;
  /** [] the Euclidean norm of all gradients together, before clipping */
  readonly gradientNorm: tf.Scalar;
}

/** [N] zeros: a slot for each parameter. */
export function zeroSlot(params: NamedArrays) {
  checkArgument('optimiser.init', 'params', namedArrays, params);
  return ndarray(new Float32Array(countOf(params)));
}

/** Slots of the optimisers that keep two exponential means and count their steps. */
export function momentSlots(params: NamedArrays): NamedArrays {
  return {
    firstMoment: zeroSlot(params),
    secondMoment: zeroSlot(params),
    step: ndarray(new Float32Array(1), []),
  };
}

/** The arguments of {@link Optimiser.update}. */
interface UpdateArguments {
  readonly gradients: TensorRecord;
  readonly slots: TensorRecord;
  readonly params: TensorRecord;
  readonly learningRate: tf.Scalar | number;
}

/**
 * Refuses gradients and slots that don't belong to the parameters, and an invalid learning rate.
 *
 * @param vectors  names of the slots that hold a number for each parameter
 * @param counts   names of slots that hold one number
 */
export function checkUpdate(
  where: string,
  { gradients, slots, params, learningRate }: UpdateArguments,
  vectors: readonly string[],
  counts: readonly string[] = [],
): void {
  checkRecord(where, 'params', params);
  for (const name of Object.keys(params)) checkTensor(where, `params.${name}`, params[name]);
  checkGradients(where, gradients, params);
  checkRecord(where, 'slots', slots);
  const size = Object.values(params).reduce((sum, param) => sum + param.size, 0);
  for (const [names, shape] of [[vectors, [size]] as const, [counts, []] as const]) {
    for (const name of names) {
      checkTensor(where, `slots.${name}`, slots[name]);
      if (String(slots[name].shape) === String(shape)) continue;
      const remedy = 'Give the slots that init made for these parameters.';
      fail(`${where}: slots.${name}`, `the shape [${shape}]`, `[${slots[name].shape}]`, remedy);
    }
  }
  if (typeof learningRate === 'number') checkNumber(where, 'learningRate', learningRate);
  else checkTensor(where, 'learningRate', learningRate);
}

function checkGradients(where: string, gradients: TensorRecord, params: TensorRecord): void {
  checkRecord(where, 'gradients', gradients);
  const names = Object.keys(params);
  for (const name of names) {
    if (gradients[name] && tf.util.arraysEqual(gradients[name].shape, params[name].shape)) continue;
    const got = gradients[name] ? `[${gradients[name].shape}]` : 'none';
    fail(
      where,
      `a gradient of shape [${params[name].shape}] for ${name}`,
      got,
      'Give what valueAndGradients returned.',
    );
  }
  const extra = Object.keys(gradients).find((name) => !Object.hasOwn(params, name));
  if (extra !== undefined) fail(where, `gradients of ${names.join(', ')} alone`, `also ${extra}`, 'Leave it out.');
}
