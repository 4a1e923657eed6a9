import { fail } from '@coplay/core';
import { kernel } from '../kernel';

/** Kernels that no graph of fixed shapes without randomness can have, refused in words that help. */
export function registerRefusals(): void {
  for (const name of DATA_DEPENDENT) {
    kernel(name, ({ where }) =>
      fail(
        where,
        'operations whose result has a shape that is known beforehand',
        `${name}, whose shape depends on the data`,
        "Use a mask (tf.where, a product with 0 and 1), or compile it with executor: 'eager'.",
      ),
    );
  }
  kernel('Multinomial', ({ where }) =>
    fail(
      where,
      'a traced function to draw no random numbers: every run would get the same ones',
      'tf.multinomial',
      'Give uniform numbers as an input and take the arg max of logits minus log(-log(numbers)).',
    ),
  );
}

const DATA_DEPENDENT = [
  'Unique',
  'NonMaxSuppressionV3',
  'NonMaxSuppressionV4',
  'NonMaxSuppressionV5',
  'SparseFillEmptyRows',
  'SparseReshape',
  'RaggedGather',
  'RaggedRange',
  'RaggedTensorToTensor',
];
