import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@coplay/source', 'node', 'import', 'module', 'default'] },
  ssr: {
    resolve: {
      conditions: ['@coplay/source', 'node', 'import', 'module', 'default'],
      externalConditions: ['@coplay/source', 'node', 'import'],
    },
  },
  test: {
    pool: 'forks',
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    // vitest's own choice leaves a processor to itself; of two, that is half of the time.
    maxWorkers: '100%',
    setupFiles: ['test/setup.ts'],
    // A trial of threads may end one way or the other, and with more than two some sums are rounded otherwise.
    env: { COPLAY_THREADS: '1' },
    // The slowest test takes 10 s on two cores that others use as well; machines of CI swing by more than twice.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
