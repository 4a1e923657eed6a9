import { fileURLToPath } from 'node:url';
import { type BackendName, type ExecutorName, useBackend } from '@coplay/tensor';
import { type Context, findPython } from '../harness';
import { type Peer, startPeer } from './peer';
import { makeRunnable, type Runnable, type Step, steps } from './steps';

/** Something that runs steps. */
export interface Machine {
  /** As columns are called. */
  readonly name: MachineName;
  /** What four runs from fresh parameters give: the loss, or for a forward step the mean square of its outputs. */
  losses(step: Step): Promise<readonly number[]>;
  /** Milliseconds of each of some runs. */
  time(step: Step, runs: number): Promise<readonly number[]>;
  /** Frees the memory of a step. */
  forget(step: Step): void;
  end(): void;
}

/** Who may take part. */
export type MachineName =
  | 'eager wasm'
  | 'tfjs-node'
  | 'compiled'
  | 'generated'
  | 'torch eager'
  | 'torch.compile'
  | 'jax.jit';

/** How many runs from fresh parameters are compared. */
const COMPARED = 4;

/** All that are there. Says who isn't. */
export async function findMachines(context: Context): Promise<Machine[]> {
  const machines = [
    own('compiled', 'onnx', 'wasm'),
    own('generated', 'wasm', 'wasm'),
    own('eager wasm', 'eager', 'wasm'),
  ];
  // TensorFlow would take all cores; peers have two threads each.
  process.env['TF_NUM_INTRAOP_THREADS'] ??= '2';
  const tfjsNode = await problemOf(() => useBackend('tensorflow'));
  if (tfjsNode === undefined) machines.push(own('tfjs-node', 'eager', 'tensorflow'));
  else context.say(`tfjs-node is left out: ${tfjsNode}`);
  if (!context.withPython) return machines;
  const torch = await python(context, 'steps_torch.py', ['numpy', 'torch']);
  const jax = await python(context, 'steps_jax.py', ['numpy', 'jax', 'optax']);
  if (torch) machines.push(peer('torch eager', torch, 'eager'));
  if (torch && context.options['torch-compile'] !== 'no') {
    machines.push(without(UNROLLED, peer('torch.compile', torch, 'compile')));
  }
  if (jax) machines.push(peer('jax.jit', jax, 'jit'));
  return machines;
}

/** One in this process. */
function own(name: MachineName, executor: ExecutorName, backend: BackendName): Machine {
  const runnables = new Map<Step, Runnable>();
  const forget = (step: Step) => {
    runnables.get(step)?.dispose();
    runnables.delete(step);
  };
  return {
    name,
    async losses(step) {
      await useBackend(backend);
      const runnable = makeRunnable(step, executor);
      const losses: number[] = [];
      try {
        while (losses.length < COMPARED) losses.push(meanOf(step, (await runnable.run()).data as Float32Array));
      } finally {
        runnable.dispose();
      }
      return losses;
    },
    async time(step, runs) {
      await useBackend(backend);
      if (!runnables.has(step)) runnables.set(step, makeRunnable(step, executor));
      const { run } = runnables.get(step)!;
      const milliseconds: number[] = [];
      for (let i = 0; i < runs; i++) {
        const start = performance.now();
        await run();
        milliseconds.push(performance.now() - start);
      }
      return milliseconds;
    },
    forget,
    end: () => [...runnables.keys()].forEach(forget),
  };
}

function meanOf({ isTraining }: Step, values: Float32Array): number {
  return isTraining ? values[0] : values.reduce((sum, value) => sum + value * value, 0) / values.length;
}

/** One mode of a script in Python, which may have several. */
function peer(name: MachineName, { ask, end }: Peer, mode: string): Machine {
  return {
    name,
    losses: async (step) =>
      (await ask<{ losses: number[] }>({ do: 'losses', step: step.name, mode, runs: COMPARED })).losses,
    time: async (step, runs) =>
      (await ask<{ milliseconds: number[] }>({ do: 'time', step: step.name, mode, runs })).milliseconds,
    forget: (step) => void ask({ do: 'forget', step: step.name, mode }).catch(() => undefined),
    end,
  };
}

/** torch.compile unrolls loops: these take it more than five minutes to compile. */
const UNROLLED: readonly string[] = ['gru-64-256', 'gru-64-64', 'recurrence'];

/** A machine that doesn't try some steps. */
function without(names: readonly string[], machine: Machine): Machine {
  return {
    ...machine,
    async losses(step) {
      if (names.includes(step.name)) throw new Error('compiling an unrolled loop of this length takes it too long');
      return machine.losses(step);
    },
  };
}

/** Starts a script and tells it the steps; undefined, and a word on it, where it can't be used. */
async function python(context: Context, script: string, modules: readonly string[]): Promise<Peer | undefined> {
  const found = findPython(modules);
  if ('missing' in found) {
    context.say(`${script} is left out: ${found.missing}`);
    return undefined;
  }
  const started = startPeer(found.command, [fileURLToPath(new URL(`../peers/${script}`, import.meta.url))]);
  const spec = Object.fromEntries(steps.map(({ name, params, inputs }) => [name, { params, inputs }]));
  try {
    const { version } = await started.ask<{ version: string }>({ do: 'load', steps: spec });
    context.say(version);
    return started;
  } catch (error) {
    context.say(`${script} is left out: ${(error as Error).message}`);
    return undefined;
  }
}

async function problemOf(attempt: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return (error as Error).message.split('\n')[0];
  }
}
