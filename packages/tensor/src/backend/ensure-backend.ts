import * as tf from '@tensorflow/tfjs-core';
import { isBackendName, useBackend } from './use-backend';

/**
 * Chooses a backend (`auto`) unless one is in use already: what needs tensors calls it before its first one. A backend
 * that was set by `tf.setBackend` stays, and is mended.
 */
export async function ensureBackend(): Promise<void> {
  const current: string | undefined = tf.engine().backendName;
  if (!current) await useBackend('auto');
  else if (isBackendName(current)) await useBackend(current);
}
