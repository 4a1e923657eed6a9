import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CoplayError } from '@coplay/core';
import type { Plugin } from 'esbuild';

/**
 * A file of TypeScript or JavaScript and the files that it imports by relative paths, as one JavaScript module that
 * imports packages.
 *
 * @param file  absolute
 * @returns the module, and SHA-256 checksums (hexadecimal) by the absolute paths of the files: of the very bytes that
 *          it was made of
 * @throws CoplayError for files that can't be read or compiled
 */
export async function bundle(
  file: string,
  format: 'esm' | 'cjs',
): Promise<{ readonly text: string; readonly files: Readonly<Record<string, string>> }> {
  const { build } = await import('esbuild');
  const folder = dirname(file);
  const checksums = new Map<string, string>();
  try {
    const { outputFiles } = await build({
      entryPoints: [file],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      packages: 'external',
      platform: 'node',
      format,
      target: `node${process.versions.node}`,
      sourcemap: 'inline',
      logLevel: 'silent',
      define: PLACES,
      plugins: [ownFiles(checksums)],
    });
    return { text: outputFiles[0].text, files: Object.fromEntries([...checksums].sort()) };
  } catch (error) {
    const got = (error as Error).message;
    throw new CoplayError(
      { where: 'coplay', expected: `to compile ${file}`, got, remedy: 'Mend the file.' },
      { cause: error },
    );
  }
}

/** A module's variables for its own location. In one joined module each file must keep its own. */
const PLACES = {
  'import.meta.url': '__coplay_url',
  'import.meta.filename': '__coplay_filename',
  'import.meta.dirname': '__coplay_dirname',
};

/** Endings of programs. */
const PROGRAM = /\.[cm]?[jt]sx?$/;

/**
 * Reads every file once, so that the compiled text is the text with the checksum. Tells every program where it is, in
 * front of its first line, so that lines keep their numbers.
 */
function ownFiles(checksums: Map<string, string>): Plugin {
  return {
    name: 'own-files',
    setup({ onLoad }) {
      onLoad({ filter: /./, namespace: 'file' }, ({ path }) => {
        const bytes = readFileSync(path);
        checksums.set(path, createHash('sha256').update(bytes).digest('hex'));
        return { contents: PROGRAM.test(path) ? placed(path, bytes.toString('utf8')) : bytes, loader: 'default' };
      });
    },
  };
}

function placed(path: string, text: string): string {
  const values = [pathToFileURL(path).href, path, dirname(path)];
  const places = Object.values(PLACES).map((name, i) => `const ${name} = ${JSON.stringify(values[i])};`);
  // Behind something else on its line, the first line of a script isn't told apart any more.
  return `${places.join(' ')} ${text.startsWith('#!') ? '//' : ''}${text}`;
}
