/**
 * Puts the page together in examples/browser/dist, for any server of files:
 *
 *   npx tsx examples/browser/build.ts
 *   npx esbuild --serve=127.0.0.1:8000 --servedir=examples/browser/dist
 */
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const made = join(here, 'dist');

await build({
  entryPoints: [join(here, 'page.js')],
  outdir: made,
  bundle: true,
  minify: true,
  format: 'esm',
  // The second one leaves out a copy of onnxruntime-web's own script, which is served as a file.
  conditions: ['@coplay/source', 'onnxruntime-web-use-extern-wasm'],
  logLevel: 'info',
});
cpSync(join(here, 'index.html'), join(made, 'index.html'));

mkdirSync(join(made, 'ort'), { recursive: true });
const runtime = join(here, '../../node_modules/onnxruntime-web/dist');
for (const name of ['ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm']) {
  cpSync(join(runtime, name), join(made, 'ort', name));
}
