import { defineConfig } from 'tsup';

// One configuration for all packages; each runs it from its own folder.
export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  dts: true,
  sourcemap: true,
  clean: true,
  target: 'es2022',
});
