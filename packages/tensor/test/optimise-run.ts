import { type NamedArrays, ndarray } from '@coplay/core';
import { type BackendName, compile, type Optimiser, type TensorRecord, type tf, variables } from '@coplay/tensor';
import { loadableBackends } from './backends';
import { onnx } from './onnx-runtime';

/** What runs an optimiser's steps: tfjs operation by operation on a backend, or a graph. */
export interface Machine {
  readonly label: string;
  readonly backend: BackendName;
  readonly executor: 'eager' | 'onnx' | 'wasm';
}

/** Every backend that loads here, generated code, and ONNX Runtime where it loads. */
export async function loadableMachines(): Promise<Machine[]> {
  const eager = (await loadableBackends()).map(
    (backend): Machine => ({ label: `eager ${backend}`, backend, executor: 'eager' }),
  );
  const wasm: Machine = { label: 'generated wasm', backend: 'cpu', executor: 'wasm' };
  return [...eager, wasm, ...(onnx ? [{ label: 'onnx', backend: 'cpu', executor: 'onnx' } as const] : [])];
}

/** Parameters after each step of `gradients` and the gradients' norms; the slots in the end. */
export async function runOptimiser(
  optimiser: Optimiser,
  initial: NamedArrays,
  gradients: readonly NamedArrays[],
  learningRate: number | ((update: number) => number),
  executor: Machine['executor'],
) {
  const [params, slots] = [variables(initial), variables(optimiser.init(initial))];
  const step = compile(
    (state: Record<'params' | 'slots', TensorRecord>, inputs) => {
      const { rate, ...given } = inputs;
      const next = optimiser.update(given, state.slots, state.params, rate as tf.Scalar);
      return { state: { params: next.params, slots: next.slots }, outputs: { norm: next.gradientNorm } };
    },
    { name: 'step', state: { params, slots }, executor },
  );
  const trace: { values: Record<string, number[]>; norm: number }[] = [];
  for (const [t, given] of gradients.entries()) {
    const rate = typeof learningRate === 'number' ? learningRate : learningRate(t);
    const { norm } = await step({ ...given, rate: ndarray(Float32Array.of(rate), []) });
    const arrays = Object.entries(await params.read());
    trace.push({
      values: Object.fromEntries(arrays.map(([name, { data }]) => [name, [...data]])),
      norm: norm!.data[0],
    });
  }
  const left = await slots.read();
  for (const part of [step, params, slots]) part.dispose();
  return { trace, slots: left };
}
