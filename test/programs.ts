import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { afterAll } from 'vitest';
import { root } from '../scripts/lib/workspaces';

/** A fresh folder inside of the repository, where programs find packages; it goes when the test file ends. */
export function placeOfPrograms(): string {
  const cache = join(root, '.cache');
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(join(cache, 'programs-'));
  afterAll(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

/**
 * Bundles a program with the sources of our packages, for tests that start it as a process of its own: one file starts
 * several times faster than the hundreds that tsx translates. Other packages are found from the file's place.
 *
 * @param source `entryPoints` with one file, or `stdin`
 */
export async function bundleProgram(
  outfile: string,
  source: Pick<BuildOptions, 'entryPoints' | 'stdin'>,
): Promise<string> {
  await build({
    ...source,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@coplay/source'],
    logLevel: 'error',
    plugins: [
      {
        name: 'other packages',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
            kind === 'entry-point' || /^(@coplay\/|(create-)?coplay$)/.test(path)
              ? undefined
              : { path, external: true },
          ),
      },
    ],
  });
  return outfile;
}
