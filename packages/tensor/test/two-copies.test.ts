import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as Copy from './fixtures/copy';
import { needsOnnx, onnx } from './onnx-runtime';

// Inside of the repository, so that both find the same tfjs; as two installations in a process do, or two builds of
// one.
const folder = join(import.meta.dirname, '../node_modules/.copies');
let scratch: string;
let [module, common, newer]: (typeof Copy)[] = [];

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  scratch = mkdtempSync(join(folder, 'two-'));
  const shared: BuildOptions = {
    entryPoints: [join(import.meta.dirname, 'fixtures/copy.ts')],
    bundle: true,
    platform: 'node',
    conditions: ['@coplay/source'],
    external: ['@tensorflow/*', 'onnxruntime-node', 'zod'],
    logLevel: 'error',
  };
  await build({ ...shared, format: 'esm', outfile: join(scratch, 'copy.mjs') });
  await build({ ...shared, format: 'cjs', outfile: join(scratch, 'copy.cjs') });
  module = await import(/* @vite-ignore */ pathToFileURL(join(scratch, 'copy.mjs')).href);
  common = createRequire(import.meta.url)(join(scratch, 'copy.cjs'));
  const text = readFileSync(join(scratch, 'copy.mjs'), 'utf8');
  writeFileSync(join(scratch, 'newer.mjs'), text.replaceAll(/(@coplay\/[a-z]+\/\w+@)0\.1/g, '$10.2'));
  newer = await import(/* @vite-ignore */ pathToFileURL(join(scratch, 'newer.mjs')).href);
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it.each(['cpu', 'wasm'] as const)('mend the kernels of %s once for both', async (backend) => {
  for (const copy of [module, common]) await copy.useBackend(backend);
  const { tf } = common;
  const total = (x: ReturnType<typeof tf.ones>) => tf.sum(tf.avgPool(x as never, 2, 1, 'same'));
  const gradient = tf.grad(total as never)(tf.ones([1, 2, 2, 1]));
  // Windows of 2 x 2 from each cell down and right: means of 4, 2, 2 and 1 cells.
  expect([...gradient.dataSync()]).toEqual([1 / 4, 1 / 4 + 1 / 2, 1 / 4 + 1 / 2, 1 / 4 + 1 / 2 + 1 / 2 + 1]);
});

/** (x + w)^2, and w becomes x. */
function step(copy: typeof Copy, params: ReturnType<typeof Copy.variables>, name: string) {
  const { compile, tf } = copy;
  return compile<'params'>(
    ({ params: { w } }, { x }) => ({ state: { params: { w: x } }, outputs: { y: tf.square(tf.add(x, w)) } }),
    { name, state: { params } },
  );
}

describe.skipIf(!onnx)(`two copies of the packages in a process${needsOnnx}`, () => {
  it('compile in turns, each with variables of its own or of the other', async () => {
    const { ndarray } = module;
    const run = async (copy: typeof Copy, params: ReturnType<typeof Copy.variables>, x: number) => {
      const { y } = await step(copy, params, `step-${x}`)({ x: ndarray(Float32Array.of(x)) });
      return y.data[0];
    };
    const [first, second] = [module, common].map((copy) => copy.variables({ w: ndarray(Float32Array.of(1)) }));
    expect(await run(module, first, 2)).toBe(9);
    expect(await run(common, second, 3)).toBe(16);
    expect(await run(module, first, 4)).toBe(36); // (4 + 2)^2: the first copy still compiles
    expect(await run(common, first, 5)).toBe(81); // (5 + 4)^2
    expect(() => common.stackVariables([first, second])).not.toThrow();
  });

  it('of different versions are told by name and version', () => {
    const { ndarray } = module;
    const own = module.variables({ w: ndarray(Float32Array.of(1)) });
    const foreign = newer.variables({ w: ndarray(Float32Array.of(1)) });
    const message = /made by variables\(\), got VariableStore of @coplay\/tensor 0\.2 .*npm ls @coplay\/tensor/;
    expect(() => step(module, foreign, 'foreign')).toThrow(message);
    expect(() => module.stackVariables([own, foreign])).toThrow(message);
    expect(() => newer.stackVariables([own])).toThrow(/got VariableStore of @coplay\/tensor 0\.1 /);
  });

  it('take turns: a call sees what calls of the other copy wrote before', async () => {
    const { ndarray } = module;
    const params = module.variables({ w: ndarray(Float32Array.of(0)) });
    const [a, b] = [step(module, params, 'a'), step(common, params, 'b')];
    const calls = Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? a : b)({ x: ndarray(Float32Array.of(i)) }));
    const answers = await Promise.all(calls);
    expect(answers.map(({ y }) => y.data[0])).toEqual([0, 1, 9, 25, 49, 81]); // (i + i - 1)^2
  });

  it("know each other's errors and settings", async () => {
    const error = (() => {
      try {
        return module.fail('f', 'a', 'b', 'c');
      } catch (thrown) {
        return thrown;
      }
    })();
    expect([error instanceof module.CoplayError, error instanceof common.CoplayError]).toEqual([true, true]);
    expect(new Error('of others') instanceof common.CoplayError).toBe(false);
    module.useThreads(3);
    expect((await common.threadInfo()).threads).toBe(3);
    module.useThreads();
  });
});
