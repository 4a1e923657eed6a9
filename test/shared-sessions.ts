import { createHash } from 'node:crypto';
import type { InferenceSession } from 'onnxruntime-node';

// Tests make learners of the same graphs again and again, and ONNX Runtime prepares a graph for longer than a test runs
// it. A session keeps nothing from run to run: so functions with equal graphs and options get the same one, in all test
// files of a process. Files that count sessions don't take part: `alone` in vitest.config.ts.

/** Sessions that are kept for the next function with the same graph. */
const MOST_KEPT = 128;

interface Shared {
  readonly session: InferenceSession;
  users: number;
}

type Factory = (model: Uint8Array, options?: InferenceSession.SessionOptions) => Promise<InferenceSession>;

/** Makes a session, or takes one of the same graph. */
function sharing(create: Factory): Factory {
  const kept = new Map<string, Shared>();
  const releaseUnused = async (key: string, shared: Shared) => {
    if (shared.users === 0 && kept.get(key) !== shared) await shared.session.release();
  };
  return async (model, options = {}) => {
    if (!(model instanceof Uint8Array) || options.enableProfiling) return create(model, options);
    const key = createHash('sha1').update(model).update(JSON.stringify(options)).digest('hex');
    const shared = kept.get(key) ?? { session: await create(model, options), users: 0 };
    shared.users++;
    kept.delete(key); // the newest is the last one
    kept.set(key, shared);
    if (kept.size > MOST_KEPT) {
      const [[oldest, dropped]] = kept;
      kept.delete(oldest);
      await releaseUnused(oldest, dropped);
    }
    let isReleased = false;
    const release = async () => {
      if (isReleased) throw new Error('This session was released before.');
      isReleased = true;
      shared.users--;
      await releaseUnused(key, shared);
    };
    return Object.create(shared.session, { release: { value: release } }) as InferenceSession;
  };
}

process.env['ORT_DISABLE_TELEMETRY'] ??= '1'; // as tensor does before it loads the library
const onnx = await import('onnxruntime-node').catch(() => undefined);
const factory = onnx?.InferenceSession as { create: Factory; isSharing?: boolean } | undefined;
// Every test file of the process comes here.
if (factory && !factory.isSharing)
  Object.assign(factory, { isSharing: true, create: sharing(factory.create.bind(factory)) });
