import { type BackendName, useBackend } from '@coplay/tensor';

/** The backends that load on this machine: cpu and wasm always, tensorflow where tfjs-node is installed. */
export async function loadableBackends(): Promise<BackendName[]> {
  const backends: BackendName[] = ['cpu', 'wasm'];
  try {
    await useBackend('tensorflow');
    backends.push('tensorflow');
  } catch {
    // Not installed, which is fine: `npm run test:tfjs-node` insists on it.
  }
  return backends;
}
