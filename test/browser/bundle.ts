import { build } from 'esbuild';
import { root } from '../../scripts/lib/workspaces';

/** A bundled script and what went into it. */
export interface Bundle {
  readonly code: Uint8Array;
  /** Paths of all source files, from the root. */
  readonly inputs: readonly string[];
}

/** Bundles a file of the repository as one ES module for browsers. */
export async function bundle(file: string): Promise<Bundle> {
  const { metafile, outputFiles, warnings } = await build({
    entryPoints: [file],
    absWorkingDir: root,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    conditions: ['@coplay/source', 'onnxruntime-web-use-extern-wasm'],
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  for (const { text } of warnings) console.warn(`esbuild: ${text}`);
  return { code: outputFiles[0].contents, inputs: Object.keys(metafile.inputs) };
}
