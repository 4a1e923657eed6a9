import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ndarray } from '@coplay/core';
import { compile, executorInfo, tf, useBackend, useExecutor } from '@coplay/tensor';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundleProgram, placeOfPrograms } from '../../../test/programs';
import { needsOnnx, onnx } from './onnx-runtime';

/** Whether a new function is traced (its tensors are on the tracing backend then), and twice the number it's given. */
function doubling() {
  let backend = '';
  const double = compile(
    (_, { x }) => {
      backend = tf.getBackend();
      return { outputs: { y: tf.mul(x!, 2) } };
    },
    { name: 'double' },
  );
  return async () => {
    expect((await double({ x: ndarray(Float32Array.of(4)) }))['y']!.data[0]).toBe(8);
    return backend === 'coplay-trace' ? 'onnx' : backend;
  };
}

beforeEach(async () => {
  vi.stubEnv('COPLAY_EXECUTOR', '');
  await useBackend('cpu');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await useExecutor('auto');
});

describe('useExecutor', () => {
  it('runs functions operation by operation when asked to, and says so', async () => {
    expect(await useExecutor('eager')).toEqual({ name: 'eager', reason: 'eager on cpu: as asked' });
    expect(await doubling()()).toBe('cpu');
  });

  it.skipIf(!onnx)(`takes ONNX Runtime by itself, and says which${needsOnnx}`, async () => {
    const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as { version: string };
    expect(await useExecutor()).toEqual({
      name: 'onnx',
      reason: `onnx: onnxruntime-node ${version}, small graphs as generated WebAssembly`,
    });
    expect(await doubling()()).toBe('onnx');
  });

  it.skipIf(!onnx)(`leaves functions alone that were called before${needsOnnx}`, async () => {
    const early = doubling();
    expect(await early()).toBe('onnx');
    await useExecutor('eager');
    expect(await early()).toBe('onnx');
    expect(await doubling()()).toBe('cpu');
  });

  it('leaves auto to COPLAY_EXECUTOR', async () => {
    vi.stubEnv('COPLAY_EXECUTOR', 'eager');
    expect(await useExecutor('auto')).toEqual({
      name: 'eager',
      reason: 'eager on cpu: COPLAY_EXECUTOR asks for it',
    });
    expect(await doubling()()).toBe('cpu');
    vi.stubEnv('COPLAY_EXECUTOR', 'gpu');
    await expect(executorInfo()).rejects.toThrow(
      /COPLAY_EXECUTOR: expected executor 'auto', 'onnx', 'wasm' or 'eager', got "gpu"/,
    );
  });

  it('refuses what is no executor, and stays as it was', async () => {
    await useExecutor('eager');
    await expect(useExecutor('fast' as 'auto')).rejects.toThrow(/useExecutor: expected executor .* got "fast"/);
    expect((await executorInfo()).name).toBe('eager');
  });
});

/** What TensorFlow's library says when tfjs-node loads it, where that is installed. */
const TENSORFLOW_LOG = /^(WARNING: All log messages before absl|[IWE]\d{4} |\d{4}-\d\d-\d\d |To enable the following)/;

const programs = placeOfPrograms();
beforeAll(async () => {
  for (const name of ['with-onnx', 'without-onnx']) {
    const source = fileURLToPath(new URL(`fixtures/${name}.ts`, import.meta.url));
    await bundleProgram(join(programs, `${name}.mjs`), { entryPoints: [source] });
  }
});

/** Runs a fixture in a process of its own. */
function spawnFixture(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  flags: readonly string[] = [],
) {
  return spawnSync(process.execPath, [...flags, join(programs, `${name}.mjs`), ...args], { encoding: 'utf8', env });
}

function run(...args: string[]) {
  const { stdout, stderr, status } = spawnFixture('without-onnx', args);
  const complaints = stderr
    .trim()
    .split('\n')
    .filter((line) => !TENSORFLOW_LOG.test(line));
  return { status, lines: stdout.trim().split('\n'), complaints };
}

describe.skipIf(!onnx || process.platform !== 'linux')(`telemetry of onnxruntime-node${needsOnnx}`, () => {
  // The library turns its telemetry off by itself where one of these says that it runs in continuous integration.
  const CI_VARIABLES =
    /^(CI|TF_BUILD|GITHUB_ACTIONS|GITLAB_CI|CIRCLECI|TRAVIS|JENKINS_URL|CODEBUILD_BUILD_ID|BUILDKITE|TEAMCITY_VERSION|APPVEYOR|BITBUCKET_BUILD_NUMBER)$/;

  /** What is in the user's cache after a compiled function has run. */
  function cacheAfter(setting?: string): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'coplay-cache-'));
    try {
      const { ORT_DISABLE_TELEMETRY: _, ...rest } = process.env;
      const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !CI_VARIABLES.test(name)));
      const env = { ...kept, XDG_CACHE_HOME: folder, ...(setting && { ORT_DISABLE_TELEMETRY: setting }) };
      const { stdout } = spawnFixture('with-onnx', [], { ...env, COPLAY_EXECUTOR: 'onnx' });
      expect(stdout.trim()).toBe('onnx 8');
      return readdirSync(folder, { recursive: true }).map(String);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  it('is off: nothing is written into the user’s cache', { tags: ['slow'] }, () => {
    expect(cacheAfter()).toEqual([]);
  });

  it('is on where the user says so', { tags: ['slow'] }, () => {
    expect(cacheAfter('0')).not.toEqual([]);
  });
});

// 2 + 3 times the sum of 0 to 49.
const SUM = `sum ${5 * 1225}`;

describe('without onnxruntime-node', () => {
  it('generates code, looks for it once, and computes the same without a word', { tags: ['slow'] }, () => {
    const { status, lines, complaints } = run('absent');
    expect(complaints).toEqual(['looked']);
    expect(lines).toEqual([
      SUM,
      expect.stringMatching(/^compile\(asked\): expected ONNX Runtime, .*isn't installed.*Install/),
    ]);
    expect(status).toBe(0);
  });

  it('gives the reason where the package is there and its library does not load', { tags: ['slow'] }, () => {
    const { status, lines, complaints } = run('broken', 'told');
    expect(complaints).toEqual(['looked']);
    expect(lines[0]).toMatch(
      /^wasm: generated code with SIMD.*: onnxruntime-node doesn't load \(Error loading shared library ld-linux[^\n]*\)$/,
    );
    expect(lines[1]).toBe(SUM);
    expect(status).toBe(0);
  });

  it('and without WebAssembly says once that functions run eagerly, and why no code is generated where asked to', {
    tags: ['slow'],
  }, () => {
    const complaintsOf = (env: NodeJS.ProcessEnv) => {
      const { stdout, stderr } = spawnFixture('without-onnx', ['absent'], env, ['--jitless']);
      expect(stdout.split('\n')[0]).toBe(SUM);
      return stderr.match(/(No code|Compiled functions).*/g);
    };
    const slow = expect.stringMatching(
      /^Compiled functions are slower than they could be\. eager on (cpu|tensorflow): onnxruntime-node isn't installed$/,
    );
    const { COPLAY_EXECUTOR: _, ...env } = process.env;
    expect(complaintsOf(env)).toEqual([slow]);
    expect(complaintsOf({ ...env, COPLAY_EXECUTOR: 'wasm' })).toEqual([
      'No code is generated for compiled functions: there is no WebAssembly here.',
      slow,
    ]);
  });
});
