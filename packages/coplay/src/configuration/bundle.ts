import { readFileSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CoplayError } from '@coplay/core';
import type { Loader, Plugin } from 'esbuild';

/**
 * A file of TypeScript or JavaScript and those that it imports by relative paths, as one module of JavaScript that imports packages.
 *
 * @param file  absolute
 * @returns the module, and the absolute paths of the files
 * @throws CoplayError for files that can't be read or compiled
 */
export async function bundle(
  file: string,
  format: 'esm' | 'cjs',
): Promise<{ readonly text: string; readonly inputs: readonly string[] }> {
  const { build } = await import('esbuild');
  const folder = dirname(file);
  try {
    const { outputFiles, metafile } = await build({
      entryPoints: [file],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      metafile: true,
      packages: 'external',
      platform: 'node',
      format,
      target: `node${process.versions.node}`,
      sourcemap: 'inline',
      logLevel: 'silent',
      define: PLACES,
      plugins: [ownPlaces],
    });
    const inputs = Object.keys(metafile.inputs).map((input) => resolve(folder, input));
    return { text: outputFiles[0].text, inputs: inputs.sort() };
  } catch (error) {
    const got = (error as Error).message;
    throw new CoplayError(
      { where: 'coplay', expected: `to compile ${file}`, got, remedy: 'Mend the file.' },
      { cause: error },
    );
  }
}

/** What a module knows of its place. In one joined module each file must keep its own. */
const PLACES = {
  'import.meta.url': '__coplay_url',
  'import.meta.filename': '__coplay_filename',
  'import.meta.dirname': '__coplay_dirname',
};

/** Tells every file where it is, in front of its first line, so that lines keep their numbers. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path }) => {
      const values = [pathToFileURL(path).href, path, dirname(path)];
      const places = Object.values(PLACES).map((name, i) => `const ${name} = ${JSON.stringify(values[i])};`);
      const text = readFileSync(path, 'utf8');
      // Behind something else on its line, the first line of a script isn't told apart any more.
      const contents = `${places.join(' ')} ${text.startsWith('#!') ? '//' : ''}${text}`;
      return { contents, loader: extname(path).replace(/[.cm]/g, '') as Loader };
    });
  },
};
