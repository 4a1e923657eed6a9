import { createRequire } from 'node:module';

/** This module: `__filename` in the CommonJS build, `import.meta.url` in the other. */
const HERE: string = typeof __filename === 'string' ? __filename : import.meta.url;

/** Paths of the fonts that come with a package, so that text shows on a machine that has none. */
export function fontFiles(): string[] {
  const { resolve } = createRequire(HERE);
  return ['400Regular/Arimo_400Regular.ttf', '700Bold/Arimo_700Bold.ttf'].map((name) =>
    resolve(`@expo-google-fonts/arimo/${name}`),
  );
}
