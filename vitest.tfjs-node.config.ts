import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config';

// The same tests on tfjs-node, which must be there: `useBackend('auto')` takes it, and tests per backend include it.
export default mergeConfig(base, defineConfig({ test: { globalSetup: ['test/require-tfjs-node.ts'] } }));
