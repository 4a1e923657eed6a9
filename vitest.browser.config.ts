import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config';

const { projects: _, ...common } = base.test!;

// Tests in headless Chromium, outside `npm test`: they need a browser that npm doesn't bring.
export default mergeConfig(
  { ...base, test: common },
  defineConfig({
    test: {
      include: ['test/browser/*.browser.ts'],
      // A browser has processes of its own.
      maxWorkers: 1,
      testTimeout: 240_000,
      hookTimeout: 120_000,
    },
  }),
);
