import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mustRun } from '../../scripts/lib/run';
import { filesUnder, root } from '../../scripts/lib/workspaces';
import { type Bundle, bundle } from './bundle';
import { type Browser, chromiumPath, startChromium } from './chromium';
import { worstDifference, worstOf } from './compare';
import { operators } from './operators';
import { serve } from './serve';
import { openSession, type Session } from './session';
import { type KernelResult, kernels, type Trained, train } from './work';

/** One to compile, two to time; Node makes as many as any page does. */
const UPDATES = 3;
const chromium = chromiumPath();
if (chromium === undefined)
  console.log('Skipped: there is no Chromium. Install it (apt-get install chromium), or set CHROME_PATH.');

describe.runIf(chromium !== undefined)('a page in Chromium', () => {
  let browser: Browser;
  let made: Bundle;
  let inNode: Trained;

  beforeAll(async () => {
    made = await bundle('test/browser/page.ts');
    inNode = await train({ updates: UPDATES, executor: 'auto' });
    note('Node, onnxruntime-node', inNode);
    browser = await startChromium(chromium!);
  });
  afterAll(() => browser?.close());

  describe('with onnxruntime-web', () => {
    let session: Session;
    beforeAll(async () => {
      session = await openSession(browser, made, { isolated: false });
    });
    afterAll(() => session?.close());

    it('loads it', async () => {
      expect(await session.call('isIsolated')).toBe(false);
      expect(await session.call('useOnnx', { wasmPaths: '/ort/' })).toBe('onnx: onnxruntime-web 1.30.0, 1 thread');
    });

    it('finds every operator of ONNX Runtime that compiled graphs use', async () => {
      expect(await session.call('refused')).toEqual({});
      const { NoSuchOperator } = await session.call('refusedUnknown');
      expect(NoSuchOperator).toMatch(/NoSuchOperator/);
    });

    it('shares state between functions: 1, 1 + 2, 1 + 2 + 3, ...', async () => {
      const sums = Array.from({ length: 20 }, (_, i) => ((i + 1) * (i + 2)) / 2);
      expect(await session.call('sharedState')).toEqual([...sums, 20]);
    });

    it('gives the numbers of Node, kernel by kernel, with gradients', async () => {
      const [here, there] = [await kernels(), await session.call('kernels')];
      const unlike = here.flatMap((result, i) => difference(result, there[i]) ?? []);
      expect(unlike).toEqual([]);
      expect(here.filter(({ values }) => values).length).toBeGreaterThan(50);
    });

    it('trains as Node does', async () => {
      const trained = await session.call('train', { updates: UPDATES, executor: 'auto' });
      note('page, onnxruntime-web, 1 thread', trained);
      expectAlike(trained, inNode);
    });

    it('without a complaint', () => {
      expect(session.complaints).toEqual([]);
    });
  });

  it('isolated from other origins trains with threads', async () => {
    const session = await openSession(browser, made, { isolated: true });
    expect(await session.call('isIsolated')).toBe(true);
    const reason = await session.call('useOnnx', { wasmPaths: '/ort/', threads: 2 });
    expect(reason).toBe('onnx: onnxruntime-web 1.30.0, 2 threads');
    const trained = await session.call('train', { updates: UPDATES, executor: 'auto' });
    note('page, onnxruntime-web, 2 threads', trained);
    expectAlike(trained, inNode);
    expect(session.complaints).toEqual([]);
    await session.close();
  });

  it('without onnxruntime-web trains on generated code', async () => {
    const session = await openSession(browser, made, { isolated: false });
    const trained = await session.call('train', { updates: UPDATES, executor: 'auto' });
    note('page, generated code', trained);
    expectAlike(trained, inNode);
    expect(session.complaints).toEqual([]);
    await session.close();
  });

  it('trains on tfjs where asked to', async () => {
    const session = await openSession(browser, made, { isolated: false });
    expect(await session.call('useEagerWasm')).toBe('wasm');
    const trained = await session.call('train', { updates: UPDATES, executor: 'eager' });
    note('page, tfjs wasm', trained);
    expectAlike(trained, inNode);
    expect(session.complaints).toEqual([]);
    await session.close();
  });

  it("whose server doesn't have onnxruntime-web's files says so", async () => {
    const session = await openSession(browser, made, { isolated: false });
    expect(await session.call('useOnnx', { wasmPaths: '/nowhere/' })).toMatch(
      /^useOnnxWeb: expected the files of onnxruntime-web to load, got .*wasmPaths/s,
    );
    await session.close();
  });

  it('of the example trains, evaluates and shows an episode', async () => {
    const args = ['--import', 'tsx', 'examples/browser/build.ts'];
    await mustRun(process.execPath, args, { cwd: root, limit: 60 });
    const files = { '/': join(root, 'examples/browser/dist/') };
    const server = await serve({ files: {}, folders: files }, { isolated: false });
    const { page, complaints } = await browser.open(`${server.origin}/?steps=2048`);
    const shown = (id: string) => page.locator(id).textContent();
    // As soon as there's a replay, or something went wrong.
    const seen = async () => [...complaints, await shown('#replay')].join('');
    await expect.poll(seen, { timeout: 200_000, interval: 500 }).not.toBe('');
    expect(complaints).toEqual([]);
    expect(await shown('#progress')).toMatch(/^onnx: onnxruntime-web .*2048 steps of 2048.*mean return \d\.\d\d\n$/s);
    expect(await shown('#replay')).toMatch(/step/i);
    await page.close();
    await server.close();
  });
});

it('the table of operators knows all that packages/tensor emits', () => {
  const sources = filesUnder(join(root, 'packages/tensor/src'), '.ts').filter((file) => !file.endsWith('.test.ts'));
  const text = sources.map((file) => readFileSync(file, 'utf8')).join('\n');
  const emitted = [...text.matchAll(/\.microsoft\(\s*'(\w+)'/g)].map(([, name]) => name);
  expect(new Set(emitted)).toEqual(new Set(Object.keys(operators)));
});

/** Speeds are for the record: nothing is expected of them. */
function note(where: string, { stepsPerSecond }: Trained): void {
  console.log(`${where}: ${stepsPerSecond.toFixed(0)} environment steps/s`);
}

/** The difference of two results of one kernel. */
function difference(here: KernelResult, there: KernelResult): string | undefined {
  if (!here.values || !there.values) {
    return here.error === there.error ? undefined : `${here.name}: ${here.error} / ${there.error}`;
  }
  const worst = worstDifference(there.values, here.values);
  return worst < 1e-5 ? undefined : `${here.name}: ${worst}`;
}

/**
 * The same parameters to begin with, the same actions and, within 1e-5, the same parameters after an update of sixteen
 * gradient steps. Later, roundings add up, and sooner or later a sampled action is another one: so losses and returns
 * are compared loosely.
 */
function expectAlike(trained: Trained, reference: Trained): void {
  expect(trained.params[0]).toEqual(reference.params[0]);
  expect(trained.actions).toEqual(reference.actions);
  expect(worstOf(trained.params[1], reference.params[1])).toBeLessThan(1e-5);
  expect(worstOf(trained.params[1], reference.params[0])).toBeGreaterThan(1e-3);
  trained.metrics.forEach((metrics, i) => {
    for (const [key, tolerance] of Object.entries({
      'policy/loss': 1e-3,
      'value/loss': 1e-3,
      'episode/return_mean': 0.1,
    })) {
      expect(Math.abs(metrics[key] - reference.metrics[i][key]), `${key} of update ${i + 1}`).toBeLessThan(tolerance);
    }
  });
}
