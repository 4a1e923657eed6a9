import { createRequire } from 'node:module';

/** Packages that figures may depend on. */
const PACKAGES = [
  '@coplay/core',
  '@coplay/tensor',
  '@coplay/envs',
  '@coplay/buffers',
  '@coplay/models',
  '@coplay/trainers',
  '@coplay/diagnostics',
  '@tensorflow/tfjs-core',
  '@tensorflow/tfjs-layers',
  '@tensorflow/tfjs-backend-wasm',
  '@tensorflow/tfjs-node',
  'onnxruntime-node',
];

/** Versions of Node, V8 and of those packages that are installed here. */
export function versions(): Record<string, string> {
  const found: Record<string, string> = { node: process.versions.node, v8: process.versions.v8 };
  const load = createRequire(import.meta.url);
  for (const name of PACKAGES) {
    try {
      found[name] = (load(`${name}/package.json`) as { version: string }).version;
    } catch {
      // Not installed.
    }
  }
  return found;
}
