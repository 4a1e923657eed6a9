/** Whether this is Node, and not a browser. */
export function isNode(): boolean {
  return typeof process !== 'undefined' && process.versions?.node !== undefined;
}

/** An environment variable; undefined if it isn't set, is empty, or there are none. */
export function environment(name: string): string | undefined {
  return (isNode() && process.env[name]) || undefined;
}

/** A module of Node. Its name is a variable here, so that bundlers for browsers don't look for it. */
export async function nodeModule<T>(name: `node:${string}`): Promise<T> {
  return (await import(/* @vite-ignore */ name)) as T;
}

/** Processors that this process may use: 1 in a browser, whose ONNX Runtime has threads of its own. */
export async function coreCount(): Promise<number> {
  if (!isNode()) return 1;
  const os = await nodeModule<{ availableParallelism(): number }>('node:os');
  return Math.max(1, os.availableParallelism());
}
