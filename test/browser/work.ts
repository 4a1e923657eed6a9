/** Work that Node and a page do in the same way; the results can be written as JSON and compared. */
import { type LogEntry, type NamedArrays, ndarray, type SavedState } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { stagHunt } from '@coplay/envs';
import { compile, tf, variables } from '@coplay/tensor';
import { ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';
import { gridValues, type KernelCase, kernelCases } from '../../packages/tensor/test/kernel-cases';

/** What a kernel gave: its numbers, or the error. */
export interface KernelResult {
  readonly name: string;
  readonly values?: readonly number[];
  readonly error?: string;
}

/** Every case that tensor's own tests check, compiled, with its gradients. */
export async function kernels(): Promise<KernelResult[]> {
  const results: KernelResult[] = [];
  for (const kernel of kernelCases) results.push({ name: kernel.name, ...(await outcome(kernel)) });
  return results;
}

async function outcome(kernel: KernelCase): Promise<Omit<KernelResult, 'name'>> {
  const inputs: NamedArrays = {};
  kernel.shapes.forEach((shape, i) => {
    inputs[`x${i}`] = ndarray(gridValues(sizeOf(shape), 10 * kernel.shapes.length + i, kernel.values), [...shape]);
  });
  const run = compile((_, given) => ({ outputs: forwardAndBack(kernel, Object.values(given)) }), {
    name: kernel.name,
    executor: 'onnx',
  });
  try {
    const outputs = await run(inputs);
    return { values: Object.values(outputs).flatMap(({ data }) => [...data]) };
  } catch (error) {
    return { error: (error as Error).message };
  } finally {
    run.dispose();
  }
}

function forwardAndBack({ f, forwardOnly }: KernelCase, x: tf.Tensor[]): Record<string, tf.Tensor> {
  const y = f(...x);
  if (forwardOnly) return { y };
  const weights = Float32Array.from({ length: y.size }, (_, i) => Math.cos(1 + 2 * i));
  const loss = (...given: tf.Tensor[]) => tf.sum(tf.mul(f(...given), tf.tensor(weights, y.shape))) as tf.Scalar;
  const gradients = tf.grads(loss)(x);
  return { y, ...Object.fromEntries(gradients.map((gradient, i) => [`d${i}`, gradient])) };
}

/** 1 + 2 + ... + 20 by a function that writes the state that another one reads; its two host buffers swap each time. */
export async function sharedState(): Promise<number[]> {
  const params = variables({ total: ndarray(Float32Array.of(0), []), count: ndarray(Int32Array.of(0), []) });
  type Groups = Record<'params', Record<string, tf.Tensor>>;
  const add = compile(
    ({ params: { total, count } }: Groups, { x }) => ({
      state: { params: { total: tf.add(total, x), count: tf.add(count, tf.scalar(1, 'int32')) } },
      outputs: {},
    }),
    { name: 'add', state: { params }, executor: 'onnx' },
  );
  const look = compile(({ params: { total } }: Groups) => ({ outputs: { total } }), {
    name: 'look',
    state: { params },
    executor: 'onnx',
  });
  const seen: number[] = [];
  for (let i = 1; i <= 20; i++) {
    await add({ x: ndarray(Float32Array.of(i), []) });
    seen.push((await look({}))['total'].data[0]);
  }
  seen.push((await params.read())['count'].data[0]);
  add.dispose();
  look.dispose();
  return seen;
}

/** What {@link train} tells. */
export interface Trained {
  /** Parameters of every learner before the first update and after it, by name. */
  readonly params: readonly Record<string, number[]>[];
  /** Every action of the first rollout. */
  readonly actions: readonly number[];
  /** Logged after each update. */
  readonly metrics: readonly Record<string, number>[];
  /** Environment steps per second of the updates after the first, in which everything is compiled. */
  readonly stepsPerSecond: number;
}

/** Settings of {@link train}. */
export interface TrainSettings {
  /** At least 2. */
  readonly updates: number;
  readonly executor: 'auto' | 'eager';
}

/** The first updates of self-play on the 4x4 stag hunt with the settings of `npm start`, seed 1. */
export async function train({ updates, executor }: TrainSettings): Promise<Trained> {
  const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
  const entries: LogEntry[] = [];
  const actions: number[] = [];
  let controller = new AbortController();
  let until = 1;
  const run = selfPlay({
    game,
    agents: game.agents.map((id) => ppoAgent({ game, id, ppo: ppoPresets.stagHunt, executor })),
    seed: 1,
    log: [{ start: () => undefined, write: (entry) => entries.push(entry), close: () => undefined }],
    onRollout: ({ actions: taken }, { update }) => {
      if (update === 1) actions.push(...taken);
      if (update === until) controller.abort();
    },
  });
  // However few updates are made, schedules are those of the whole training.
  const envSteps = 150_000;
  const params = [paramsOf(await run.state())];
  await run.train({ envSteps, signal: controller.signal });
  params.push(paramsOf(await run.state()));

  controller = new AbortController();
  until = updates;
  const [start, before] = [performance.now(), run.envSteps];
  await run.train({ envSteps, signal: controller.signal });
  const stepsPerSecond = (1000 * (run.envSteps - before)) / (performance.now() - start);
  run.dispose();
  return { params, actions, metrics: entries.map(({ metrics }) => ({ ...metrics })), stepsPerSecond };
}

function paramsOf(state: SavedState): Record<string, number[]> {
  const learners = state['learners'] as Record<string, { params: NamedArrays }>;
  const found: Record<string, number[]> = {};
  for (const [id, { params }] of Object.entries(learners)) {
    for (const [name, { data }] of Object.entries(params)) found[`${id}/${name}`] = [...data];
  }
  return found;
}
