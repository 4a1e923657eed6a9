import { configDefaults, defineConfig } from 'vitest/config';

const everywhere = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'];
/** Tests that replace modules, count what tfjs holds or set what all of a process sees. */
const alone = ['packages/tensor/**/*.test.ts', 'packages/trainers/test/{dreamer-regressions,guards,threads}.test.ts'];

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
    // A process for each file would spend a quarter of the time on loading the packages again.
    projects: [
      { extends: true, test: { name: 'alone', include: alone } },
      {
        extends: true,
        test: { name: 'together', include: everywhere, exclude: [...configDefaults.exclude, ...alone], isolate: false },
      },
    ],
    // vitest's own choice leaves a processor to itself; of two, that is half of the time.
    maxWorkers: '100%',
    setupFiles: ['test/setup.ts'],
    // A trial of threads may end one way or the other, and with more than two some sums are rounded otherwise.
    env: { COPLAY_THREADS: '1' },
    // `npm test` leaves these out, `npm run test:learning` runs them alone; without a filter all run.
    tags: [{ name: 'learning', description: 'trains for so long that it takes tens of seconds' }],
    // The slowest test takes 10 s on two cores that others use as well; machines of CI swing by more than twice.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
