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
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
