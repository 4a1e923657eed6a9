import { CoplayError } from '@coplay/core';
import { ensureBackend, tf, useBackend } from '@coplay/tensor';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BackendChoice } from '../src/backend/use-backend';
import { loadableBackends } from './backends';

afterEach(() => vi.restoreAllMocks());

describe('useBackend', () => {
  it('makes the backend current, and says which in one line', async () => {
    for (const name of await loadableBackends()) {
      const info = await useBackend(name);
      expect(info).toEqual({ name, reason: `${name}, as asked` });
      expect(tf.getBackend()).toBe(name);
    }
  });

  it('auto takes the first that loads, and says what was wrong with those before it', async () => {
    const { name, reason } = await useBackend('auto');
    const hasNode = (await loadableBackends()).includes('tensorflow');
    expect(name).toBe(hasNode ? 'tensorflow' : 'wasm');
    expect(reason).toMatch(hasNode ? /^tensorflow, / : /^wasm, the fastest that loads here \(tensorflow: /);
    expect(reason).not.toContain('\n');
  });

  it('can be called again, also at the same time, without replacing kernels twice', async () => {
    await Promise.all([useBackend('wasm'), useBackend('cpu'), useBackend('wasm')]);
    await useBackend('wasm');
    const kernel = tf.getKernel('BatchMatMul', 'wasm');
    await useBackend('wasm');
    expect(tf.getKernel('BatchMatMul', 'wasm')).toBe(kernel);
  });

  it('leaves the program without listeners of the wasm loader', async () => {
    await useBackend('wasm');
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      const sources = process.listeners(event as 'exit').map(String);
      expect(
        sources.filter((source) => source.includes('ExitStatus') || source === 'function(reason){throw reason}'),
      ).toEqual([]);
    }
  });

  it('warns of nothing', async () => {
    const warn = vi.spyOn(console, 'warn');
    const error = vi.spyOn(console, 'error');
    for (const name of ['cpu', 'wasm'] as const) {
      await useBackend(name);
      tf.tidy(() => tf.add([1], [2]).dataSync());
    }
    expect(warn).not.toHaveBeenCalled();
    expect(error).not.toHaveBeenCalled();
  });

  it('refuses an unknown name', async () => {
    const refused = useBackend('webgl' as BackendChoice);
    await expect(refused).rejects.toThrow(CoplayError);
    await expect(useBackend('webgl' as BackendChoice)).rejects.toThrow(
      'useBackend: expected one of auto, cpu, wasm, tensorflow, got "webgl". Give \'auto\'.',
    );
  });

  it('says what to do where tfjs-node is asked for and missing', async () => {
    if ((await loadableBackends()).includes('tensorflow')) return;
    await expect(useBackend('tensorflow')).rejects.toThrow(/useBackend\('tensorflow'\): expected a backend that loads/);
  });

  it('ensureBackend keeps what is in use', async () => {
    await useBackend('cpu');
    await ensureBackend();
    expect(tf.getBackend()).toBe('cpu');
  });
});

describe('one copy of tfjs', () => {
  it('is what everyone gets, also who imports it directly', async () => {
    expect((await import('@tensorflow/tfjs-core')).engine()).toBe(tf.engine());
  });

  it('keeps our gradients where an application loads all of tfjs before it chooses a backend', async () => {
    const mended = tf.getGradient('Maximum');
    tf.unregisterGradient('Maximum'); // what importing @tensorflow/tfjs comes to
    tf.registerGradient({ kernelName: 'Maximum', inputsToSave: [], gradFunc: () => ({}) });
    await useBackend('cpu');
    expect(tf.getGradient('Maximum')).toBe(mended);
  });
});

describe('mended tfjs', () => {
  it('has the chained methods that it calls itself', () => {
    for (const name of [
      'flatten',
      'stridedSlice',
      'sign',
      'transpose',
      'reshape',
      'split',
      'slice',
      'sub',
      'div',
      'square',
      'sum',
      'mean',
      'cast',
      'expandDims',
      'greaterEqual',
      'broadcastTo',
      'gather',
      'squeeze',
      'logicalAnd',
      'minimum',
      'pad',
    ])
      expect(name in tf.Tensor.prototype, name).toBe(true);
  });

  it('tanh on wasm keeps NaN and the limits, also in large tensors', async () => {
    await useBackend('wasm');
    const special = [Number.NaN, Infinity, -Infinity, 0, 50, -50];
    const x = Float32Array.from({ length: 4096 }, (_, i) => special[i % 6]);
    const y = tf.tidy(() => tf.tanh(tf.tensor1d(x)).dataSync());
    expect([...y.slice(0, 6)].map((value) => value + 0)).toEqual([Number.NaN, 1, -1, 0, 1, -1]);
  });

  it('cast to bool on wasm: every number but 0 is true', async () => {
    await useBackend('wasm');
    const y = tf.tidy(() => tf.cast(tf.tensor1d([0, 0.5, 256, -0.1, Number.NaN]), 'bool').dataSync());
    expect([...y]).toEqual([0, 1, 1, 1, 1]);
  });
});
