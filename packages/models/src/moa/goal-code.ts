import { tf } from '@coplay/tensor';

/** The length of a goal's code: one entry for each goal, and one for "unknown" where it has its own. */
export function goalCodeSize(goals: number, unknownGoal: boolean): number {
  return goals === 0 ? 0 : goals + (unknownGoal ? 1 : 0);
}

/**
 * Goals as one-hots.
 *
 * @param goals [...] int32 in -1..G-1
 * @returns [..., G], all zero for -1; or [..., G + 1] with the last one set for -1
 */
export function goalCode(goals: tf.Tensor, count: number, unknownGoal: boolean): tf.Tensor {
  const values = Array.from({ length: count }, (_, goal) => goal);
  if (unknownGoal) values.push(-1);
  // Compared with each value: an operation for one-hots may count -1 from the end.
  return tf.cast(tf.equal(tf.expandDims(goals, -1), tf.tensor1d(values, 'int32')), 'float32');
}
