import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { train } from './fixtures/train';

/** What a browser has beyond the language, as far as tfjs asks for it. */
const browser = () => ({
  window: { document: {}, setTimeout, addEventListener: () => undefined },
  ...{ console, performance, setTimeout, TextDecoder, TextEncoder },
});

it('a minified bundle for browsers trains to the same numbers, without any module of Node', {
  tags: ['slow'],
}, async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./fixtures/train.ts', import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'bundle',
    conditions: ['@coplay/source'],
    logLevel: 'silent',
  });
  const { text } = outputFiles[0]!;
  const bundled = (await runInContext(`${text}; bundle.train()`, createContext(browser()))) as number[];
  const losses = await train();
  expect(losses[4]).toBeLessThan(losses[0]);
  expect([...bundled]).toEqual(losses);
});
