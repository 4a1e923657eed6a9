import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const everywhere = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'];
/** Tests that replace modules, measure the heap, or count what a process holds: each file has a process of its own. */
const alone = [
  'packages/envs/test/allocation.test.ts',
  'packages/tensor/src/compile/onnx/other-thread.test.ts',
  'packages/tensor/src/wasm/plan.test.ts',
  'packages/trainers/test/{copies,dreamer-memory,guards,threads}.test.ts',
];
/** Tests of compilation and of tensors' memory: they count sessions, so no two functions may share one. */
const tensor = ['packages/tensor/**/*.test.ts'];
/** Files that share processes: a process for each would spend a quarter of the time on loading the packages again. */
const shared = (
  name: string,
  include: string[],
  exclude: string[],
  setupFiles: string[] = [],
): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name,
    include,
    exclude: [...configDefaults.exclude, ...exclude],
    isolate: false,
    // Traces make many small objects: from V8's own start at 1 MB, collecting them took a sixth of the time.
    execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64'],
    setupFiles,
  },
});
const node: TestProjectInlineConfiguration[] = [
  { extends: true, test: { name: 'alone', include: alone } },
  shared('tensor', tensor, alone),
  shared('together', everywhere, [...alone, ...tensor], ['test/shared-sessions.ts']),
];

/**
 * `--mode` chooses: `eager` runs compiled functions operation by operation, as they are where ONNX Runtime doesn't load;
 * `wasm` runs them as generated WebAssembly;
 * `tfjs-node` requires tfjs-node, which `useBackend('auto')` and the tests of each backend then take; `browser` runs the tests in
 * headless Chromium, which npm doesn't bring.
 */
export default defineConfig(({ mode }) => ({
  resolve: { conditions: ['@coplay/source', 'node', 'import', 'module', 'default'] },
  ssr: {
    resolve: {
      conditions: ['@coplay/source', 'node', 'import', 'module', 'default'],
      externalConditions: ['@coplay/source', 'node', 'import'],
    },
  },
  test: {
    pool: 'forks',
    // vitest's own choice leaves a processor to itself; of two, that is half of the time. A browser has processes of its own.
    maxWorkers: mode === 'browser' ? 1 : '100%',
    setupFiles: ['test/setup.ts'],
    // A trial of threads may end one way or the other, and with more than two some sums are rounded otherwise.
    env: { COPLAY_THREADS: '1', ...((mode === 'eager' || mode === 'wasm') && { COPLAY_EXECUTOR: mode }) },
    // `npm test` leaves these out, `npm run test:learning` runs them alone; without a filter all run.
    tags: [
      { name: 'learning', description: 'trains until agents have learned', timeout: 300_000 },
      {
        name: 'slow',
        description: 'takes seconds: many processes, kills, whole programs, or long comparisons',
        timeout: 300_000,
      },
    ],
    // The slowest test takes 10 s on two cores that others use as well; machines of CI swing by more than twice.
    testTimeout: mode === 'browser' ? 240_000 : 120_000,
    hookTimeout: 120_000,
    // A page on a busy machine may answer after more than a second, vitest's own limit.
    ...(mode === 'browser' && { expect: { poll: { timeout: 15_000 } } }),
    ...(mode === 'tfjs-node' && { globalSetup: ['test/require-tfjs-node.ts'] }),
    ...(mode === 'browser' ? { include: ['test/browser/*.browser.ts'] } : { projects: node }),
  },
}));
