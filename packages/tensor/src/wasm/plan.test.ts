import { describe, expect, it, vi } from 'vitest';
import { type Graph, GraphBuilder, type Value } from '../graph';
import { lower } from './lower';
import { bytesOf, planMemory } from './memory-plan';
import type { Buffer } from './views';

const f32 = (...shape: number[]): Value => ({ shape, dtype: 'float32' });

function graphOf(input: Value, make: (builder: GraphBuilder) => readonly Value[]): Graph {
  const builder = new GraphBuilder();
  const made = make(builder);
  const outputs = made.map((value, i) => ({ name: `y${i}`, value }));
  return { inputs: [{ name: 'x', value: input }], nodes: builder.nodes, outputs };
}

describe('fusion', () => {
  it('makes one loop of operations on as many numbers, also behind a reshape', () => {
    const x = f32(4, 6);
    const graph = graphOf(x, (builder) => {
      const a = builder.op('Exp', [x], x);
      const b = builder.op('Reshape', [a], f32(24));
      const c = builder.op('Neg', [b], f32(24));
      return [builder.op('Mul', [c, b], f32(24))];
    });
    expect(lower(graph, false).instructions).toHaveLength(1);
  });

  it('keeps a loop apart from one that needs a sum of its results', () => {
    const x = f32(4, 6);
    const graph = graphOf(x, (builder) => {
      const a = builder.op('Exp', [x], x);
      const sum = builder.op('ReduceSum', [a], f32(1, 1), { keepdims: 1 });
      return [builder.op('Div', [a, sum], x)];
    });
    const names = lower(graph, false).instructions.map((one) => 'step' in one && one.step.key.split(' ')[0]);
    expect(names).toEqual(['loop', 'reduce', 'loop']);
  });
});

describe('the memory plan', () => {
  const size = 100;
  const x = f32(size, size);
  const graph = graphOf(x, (builder) => {
    let y: Value = x;
    for (let i = 0; i < 20; i++) y = builder.op('MatMul', [y, x], x);
    return [y];
  });

  it('lets values share memory that are never needed at once', () => {
    const plan = planMemory(lower(graph, false));
    expect(plan.scratch.size).toBe(20);
    expect(plan.scratchBytes).toBe(2 * bytesOf({ place: 'scratch', size: size * size, dtype: 'float32' }));
  });

  it('never lets a step write where it reads', () => {
    const lowered = lower(graph, false);
    const { scratch } = planMemory(lowered);
    const place = (buffer: Buffer) => ({
      start: scratch.get(buffer) ?? -1,
      end: (scratch.get(buffer) ?? -1) + bytesOf(buffer),
    });
    for (const one of lowered.instructions) {
      if (!('step' in one)) continue;
      const target = place(one.step.writes[0]!.buffer);
      for (const { buffer } of one.step.reads) {
        if (buffer.place !== 'scratch') continue;
        const source = place(buffer);
        expect(source.end <= target.start || target.end <= source.start).toBe(true);
      }
    }
  });
});

describe('what the engine has', () => {
  const lookAt = async (engine: unknown) => {
    vi.resetModules();
    vi.stubGlobal('WebAssembly', engine);
    try {
      return (await import('./features')).wasmFeatures();
    } finally {
      vi.unstubAllGlobals();
      vi.resetModules();
    }
  };

  it('is said where it is not enough', async () => {
    class Refused {
      constructor() {
        throw new Error('blocked by the Content Security Policy\nmore');
      }
    }
    expect((await lookAt(undefined)).problem).toBe('there is no WebAssembly here');
    expect((await lookAt({ validate: () => false })).problem).toBe('WebAssembly has no SIMD here');
    expect((await lookAt({ validate: () => true, Module: Refused })).problem).toBe(
      "WebAssembly isn't allowed here (blocked by the Content Security Policy)",
    );
    expect((await lookAt((globalThis as { readonly WebAssembly?: unknown }).WebAssembly)).problem).toBeUndefined();
  });
});
