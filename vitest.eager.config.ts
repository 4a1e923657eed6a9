import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config';

// The same tests with compiled functions run operation by operation, as they are where ONNX Runtime doesn't load.
export default mergeConfig(base, defineConfig({ test: { env: { COPLAY_EXECUTOR: 'eager' } } }));
