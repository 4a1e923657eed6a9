import type { SequenceSample } from '@coplay/buffers';
import type { Generator, NamedArrays } from '@coplay/core';

/** The compiled updates. */
export type UpdateKind = 'joint' | 'coupled' | 'world' | 'behaviour';

/** The parts of the schedules. */
export interface ScheduleParts {
  /** A batch out of the replay, with the noise of its posterior samples. */
  sample(generator: Generator): { readonly sample: SequenceSample; readonly inputs: NamedArrays };
  /** Noise of imagination from the starts in a batch. */
  imagination(generator: Generator): NamedArrays;
  /**
   * Runs a compiled update on inputs, counts it, and keeps its metrics; returns the posterior states, where it met any.
   */
  run(kind: UpdateKind, inputs: NamedArrays, sample?: SequenceSample): Promise<NamedArrays>;
}

/**
 * The coupled scheme, joint or not: each update samples a batch, updates the world model on it, takes its posterior
 * states, and updates actor and critic from them, all in one call.
 */
export async function coupledUpdates(
  parts: ScheduleParts,
  kind: 'joint' | 'coupled',
  updates: number,
  generator: Generator,
): Promise<void> {
  for (let update = 0; update < updates; update++) {
    const { sample, inputs } = parts.sample(generator);
    await parts.run(kind, { ...inputs, ...parts.imagination(generator) }, sample);
  }
}

/**
 * The separate scheme: updates of the world model, then as many of actor and critic, whose starts are sampled and
 * encoded afresh.
 */
export async function separateUpdates(parts: ScheduleParts, updates: number, generator: Generator): Promise<void> {
  for (let update = 0; update < updates; update++) {
    const { sample, inputs } = parts.sample(generator);
    await parts.run('world', inputs, sample);
  }
  for (let update = 0; update < updates; update++) {
    const { sample, inputs } = parts.sample(generator);
    await parts.run('behaviour', { ...inputs, ...parts.imagination(generator) }, sample);
  }
}
