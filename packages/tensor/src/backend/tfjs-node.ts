/**
 * Loads `@tensorflow/tfjs-node`, which registers the backend `tensorflow`; throws with a readable reason where it
 * can't.
 */
export async function loadTfjsNode(): Promise<void> {
  if (typeof process === 'undefined' || process.versions?.node === undefined) throw new Error('only in Node');
  await restoreUtilFunctions();
  process.env['TF_CPP_MIN_LOG_LEVEL'] ??= '1'; // warnings and errors, but not which CPU instructions it uses
  // The name is computed, so that bundlers for browsers don't look for the package.
  const name = ['@tensorflow', 'tfjs-node'].join('/');
  try {
    await import(/* @vite-ignore */ name);
  } catch (error) {
    throw new Error(explain(error), { cause: error });
  }
}

/** tfjs-node 4.22 calls two functions that Node 23 removed from `util`. */
async function restoreUtilFunctions(): Promise<void> {
  const moduleName = 'node:util';
  const { default: util } = (await import(/* @vite-ignore */ moduleName)) as { default: Record<string, unknown> };
  util['isNullOrUndefined'] ??= (value: unknown) => value === null || value === undefined;
  util['isArray'] ??= Array.isArray;
}

function explain(error: unknown): string {
  const code = (error as { code?: string }).code ?? '';
  const message = error instanceof Error ? error.message : String(error);
  if (code === 'ERR_MODULE_NOT_FOUND' || message.includes("'@tensorflow/tfjs-node'")) return 'not installed';
  return `tfjs-node is installed but doesn't load (${message.split('\n')[0]}); npm run setup:tfjs-node builds it`;
}
