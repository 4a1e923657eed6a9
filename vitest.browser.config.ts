import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config';

// Tests in headless Chromium, outside `npm test`: they need a browser that npm doesn't bring.
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include: ['test/browser/*.browser.ts'], testTimeout: 240_000, hookTimeout: 120_000 } }),
);
