import { fail, show } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { mendGradients } from '../tf/gradients';
import { mendAveragePoolGradients } from './average-pool';
import { loadTfjsNode } from './tfjs-node';
import { mendWasm } from './wasm';

/** The eager backends: plain JavaScript, WebAssembly, and TensorFlow's C library through tfjs-node. */
export type BackendName = 'cpu' | 'wasm' | 'tensorflow';

/** A backend by name, or the fastest that loads. */
export type BackendChoice = BackendName | 'auto';

/** Which backend is in use. */
export interface BackendInfo {
  readonly name: BackendName;
  /** One line for people: why this one. */
  readonly reason: string;
}

const CHOICES: readonly BackendChoice[] = ['auto', 'cpu', 'wasm', 'tensorflow'];

/** Whether a backend of tfjs is one that this package patches, by its name. */
export function isBackendName(name: string): name is BackendName {
  return name !== 'auto' && (CHOICES as readonly string[]).includes(name);
}

/**
 * Chooses the backend that eager tensors live on. `auto` takes tfjs-node where it's installed and loads, else
 * wasm, else plain JavaScript; in a browser tfjs-node isn't looked for. Calling it again is cheap.
 *
 * @throws CoplayError if a backend asked for by name can't be loaded
 */
export async function useBackend(choice: BackendChoice = 'auto'): Promise<BackendInfo> {
  if (!CHOICES.includes(choice)) fail('useBackend', `one of ${CHOICES.join(', ')}`, show(choice), "Give 'auto'.");
  if (choice !== 'auto') {
    const problem = await start(choice);
    if (problem !== undefined)
      fail(`useBackend('${choice}')`, 'a backend that loads', problem, "Use 'auto', or mend the installation.");
    return { name: choice, reason: `${choice}, as asked` };
  }
  const problems: string[] = [];
  for (const name of ['tensorflow', 'wasm', 'cpu'] as const) {
    const problem = await start(name);
    if (problem === undefined) return { name, reason: `${name}, the fastest that loads here${aside(problems)}` };
    problems.push(`${name}: ${problem}`);
  }
  return fail('useBackend', 'a backend that loads', problems.join('; '), 'Install @tensorflow/tfjs-backend-cpu.');
}

function aside(problems: readonly string[]): string {
  return problems.length === 0 ? '' : ` (${problems.join('; ')})`;
}

const starters: Record<BackendName, () => Promise<string | undefined>> = {
  cpu: startCpu,
  wasm: startWasm,
  tensorflow: startTensorflow,
};
const started = new Map<BackendName, Promise<string | undefined>>();

/** Loads a backend once and makes it the current one. Returns what went wrong, if anything did. */
async function start(name: BackendName): Promise<string | undefined> {
  if (!started.has(name)) started.set(name, starters[name]());
  const problem = await started.get(name)!;
  mendGradients();
  if (problem === undefined && tf.getBackend() !== name) await tf.setBackend(name);
  return problem;
}

async function startCpu(): Promise<string | undefined> {
  return attempt('cpu', async () => {
    await loadCpu();
  });
}

let cpu: Promise<void> | undefined;

function loadCpu(): Promise<void> {
  cpu ??= import('@tensorflow/tfjs-backend-cpu').then(() => {
    quieten(tf.engine().findBackend('cpu'));
    mendOnce('cpu', () => mendAveragePoolGradients('cpu'));
  });
  return cpu;
}

/** The JavaScript backend is loaded too: wasm uses it for the kernels that it lacks. */
async function startWasm(): Promise<string | undefined> {
  const problem = await withoutNewListeners(() =>
    attempt('wasm', async () => {
      await loadCpu();
      await import('@tensorflow/tfjs-backend-wasm');
    }),
  );
  if (problem === undefined) {
    mendOnce('wasm', () => {
      mendAveragePoolGradients('wasm');
      mendWasm();
    });
  }
  return problem;
}

const MENDED = Symbol.for('@coplay/tensor/mended');

/**
 * Copies of this package in one process share tfjs's kernels. Only the first copy may mend them: average pooling that
 * is mended twice has wrong gradients. A mark on one kernel of the backend says that all were mended.
 */
function mendOnce(backendName: 'cpu' | 'wasm', mend: () => void): void {
  const kernel = () => tf.getKernel('AvgPoolGrad', backendName)!.kernelFunc;
  if (MENDED in kernel()) return;
  mend();
  Object.defineProperty(kernel(), MENDED, { value: true });
}

/**
 * Emscripten's loader makes any uncaught error of the program print its whole source; its listeners are taken off
 * again.
 */
async function withoutNewListeners<T>(load: () => Promise<T>): Promise<T> {
  if (typeof process === 'undefined' || typeof process.listeners !== 'function') return load();
  const events = ['uncaughtException', 'unhandledRejection'];
  const before = events.map((event) => process.listeners(event as 'exit'));
  const result = await load();
  events.forEach((event, i) => {
    for (const listener of process.listeners(event as 'exit')) {
      if (!before[i].includes(listener)) process.removeListener(event, listener);
    }
  });
  return result;
}

async function startTensorflow(): Promise<string | undefined> {
  return attempt('tensorflow', loadTfjsNode);
}

async function attempt(name: BackendName, load: () => Promise<void>): Promise<string | undefined> {
  try {
    await load();
    return (await tf.setBackend(name)) ? undefined : 'failed to start';
  } catch (error) {
    return firstLine(error);
  }
}

/**
 * tfjs prints a box that advises against plain JavaScript in Node on its first write; the user has been told by
 * `reason`.
 */
function quieten(backend: object): void {
  if ('firstUse' in backend) backend.firstUse = false;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!.trim();
}
