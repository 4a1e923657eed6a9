import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { root } from '../scripts/lib/workspaces';

/** Bundles a script for browsers; esbuild refuses modules of Node there. */
async function bundled(contents: string): Promise<{ code: string; inputs: string[] }> {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    platform: 'browser',
    conditions: ['@coplay/source'],
    format: 'iife',
    globalName: 'made',
    minify: true,
    treeShaking: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  return { code: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) };
}

const play = `
  import { vectorEnv } from '@coplay/core';
  import { stagHunt } from '@coplay/envs';
  const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
  const env = vectorEnv(game, { envs: 3, seed: 7 });
  for (let t = 0; t < 40; t++) {
    env.step(Int32Array.from(env.active, (_, row) => env.masks.indexOf(1, row * game.actions) - row * game.actions));
  }
  export const states = Array.from(env.states);
`;

/** Runs a bundle with the language's own globals and none of Node's. */
function runBare(code: string): unknown {
  const context = createContext({});
  return runInContext(`${code}; JSON.stringify(made.states)`, context);
}

describe('a bundle for browsers', () => {
  it('of core and envs plays without any global of Node, and as the unbundled code does', async () => {
    const { code } = await bundled(play);
    const { stagHunt } = await import('@coplay/envs');
    const { vectorEnv } = await import('@coplay/core');
    const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
    const env = vectorEnv(game, { envs: 3, seed: 7 });
    for (let t = 0; t < 40; t++) {
      env.step(Int32Array.from(env.active, (_, row) => env.masks.indexOf(1, row * game.actions) - row * game.actions));
    }
    expect(JSON.parse(runBare(code) as string)).toEqual(Array.from(env.states));
  });

  it('of envs alone pulls in neither tfjs nor ONNX Runtime', async () => {
    const { inputs } = await bundled(`export * from '@coplay/envs'`);
    expect(inputs.filter((input) => /@tensorflow|onnxruntime/.test(input))).toEqual([]);
    expect(inputs.some((input) => input.startsWith('packages/envs/src/'))).toBe(true);
  });

  it('refuses a module of Node', async () => {
    await expect(bundled(`import { readFileSync } from 'node:fs'; console.log(readFileSync)`)).rejects.toThrow(
      /node:fs/,
    );
  });
});
