import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRecording } from '@coplay/envs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coplay, files, written } from './command-line';

// Inside of the repository, where files find packages, as those of a user do in a project with them.
const cache = resolve(dirname(fileURLToPath(import.meta.url)), '../../../.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'code-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NETWORK = { kind: 'mlp', hidden: [8] };
const PLAIN = {
  game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
  agents: { kind: 'ppo', network: NETWORK, ppo: { gamma: 0.9 }, executor: 'eager' },
  ...{ envs: 4, steps: 8, envSteps: 64, checkpointEvery: 1, log: [] },
};

/** A guessing game: an agent that guesses the number in a file gets 1, the other nothing; two rounds. */
const OWN = {
  'run.config.ts': `
import { defineConfig } from 'coplay';
import { ppoAgent } from '@coplay/trainers';
import { guessing } from './rules/guessing';
import { always } from './rules/always';

interface Unused { readonly never: true }
export default defineConfig({
  game: guessing(),
  agents: ({ game, ids }) => ids.map((id) => ppoAgent({ game, id, executor: 'eager' })),
  seats: { b: ({ game, ids: [id], seed }) => [always(id, seed % 2)] },
  envs: 4,
  steps: 8,
  envSteps: 32,
  checkpointEvery: 1,
  log: [],
});
`,
  'rules/guessing.ts': `
import { readFileSync } from 'node:fs';
import type { Game } from '@coplay/core';

const right = Number(readFileSync(new URL('./right.txt', import.meta.url), 'utf8'));

export function guessing(): Game<'int32'> {
  return {
    name: 'guessing',
    options: {},
    agents: ['a', 'b'],
    actions: 2,
    actionNames: ['zero', 'one'],
    stateSize: 1,
    stateType: 'int32',
    observation: { round: { shape: [1], dtype: 'float32' } },
    infos: [],
    maxSteps: 2,
    reset(state, offset) { state[offset] = 0; },
    step(state, offset, actions, at, generator, result, row) {
      state[offset]++;
      for (let agent = 0; agent < 2; agent++) {
        result.rewards[row * 2 + agent] = actions[at + agent] === right ? 1 : 0;
        result.terminated[row * 2 + agent] = state[offset] >= 2 ? 1 : 0;
        result.truncated[row * 2 + agent] = 0;
      }
    },
    isActive: (state, offset) => state[offset] < 2,
    elapsed: (state, offset) => state[offset]!,
    legal(state, offset, agent, out, at) { out.fill(1, at, at + 2); },
    observe(state, offset, agent, out, row) { out['round']![row] = state[offset]!; },
  };
}
`,
  'rules/always.ts': `
import type { Agent } from '@coplay/core';
export const always = (id: string, action: number): Agent<null> => ({
  id,
  name: \`always \${action} from \${import.meta.dirname.split('/').pop()}\`,
  initialState: () => null,
  act: ({ rows }, state) => ({ actions: new Int32Array(rows).fill(action), state }),
});
`,
  'rules/right.txt': '1',
};

const module = (text: string) => `export default ${text};`;

describe('a configuration of code that JSON could hold', () => {
  it.each(['run.ts', 'run.mts', 'run.js', 'run.mjs'])(
    '%s trains what the same in JSON does',
    { tags: ['slow'] },
    async (name) => {
      const place = mkdtempSync(join(folder, 'plain-'));
      const path = files(place, { [name]: module(JSON.stringify(PLAIN)) });
      const [fromCode, fromJson] = [join(place, 'code'), join(place, 'json')];
      expect((await coplay(['train', path, '--directory', fromCode])).code).toBe(0);
      expect((await coplay(['train', written(place, PLAIN), '--directory', fromJson])).code).toBe(0);
      const kept = (directory: string) => JSON.parse(readFileSync(join(directory, 'coplay.json'), 'utf8')) as object;
      expect(kept(fromCode)).toEqual({ ...kept(fromJson), directory: fromCode });
      // It needs the file no more.
      rmSync(path);
      const evaluated = await Promise.all([fromCode, fromJson].map((run) => coplay(['evaluate', run, '--json'])));
      expect(evaluated[0].out).toBe(evaluated[1].out);
    },
  );

  it('may make agents by functions: the same agents learn the same', async () => {
    const place = mkdtempSync(join(folder, 'functions-'));
    const path = files(place, {
      'run.ts': `
import { mlp } from '@coplay/models';
import { ppoAgent } from '@coplay/trainers';
export default {
  ...${JSON.stringify(PLAIN)},
  agents: async ({ game, ids }: any) => ids.map((id: string) => ppoAgent({ game, id, network: mlp({ hidden: [8] }), ppo: { gamma: 0.9 }, executor: 'eager' })),
};`,
    });
    const [byFunction, byKind] = [join(place, 'function'), join(place, 'kind')];
    const first = await coplay(['train', path, '--directory', byFunction, '--seed', '7']);
    const second = await coplay(['train', written(place, PLAIN), '--directory', byKind, '--seed', '7']);
    const table = (out: string) => out.split('\nReport')[0];
    expect([first.code, table(first.out)]).toEqual([0, table(second.out)]);
  });
});

describe('a run of own code', () => {
  const place = mkdtempSync(join(folder, 'own-'));
  const path = files(place, OWN);
  const run = join(place, 'runs/own');
  beforeAll(async () => {
    const ended = await coplay(['train', path, '--directory', run, '--seed', '3']);
    expect(ended).toMatchObject({ code: 0, err: expect.not.stringContaining('Error') });
  });

  it('keeps where the code is, what it was, and what the command line said', () => {
    const kept = JSON.parse(readFileSync(join(run, 'coplay.json'), 'utf8')) as { files: Record<string, string> };
    expect(kept).toMatchObject({ code: '../../run.config.ts', envSteps: 32, seed: 3, directory: run });
    expect(Object.keys(kept.files)).toEqual([
      '../../rules/always.ts',
      '../../rules/guessing.ts',
      '../../run.config.ts',
    ]);
    expect(readdirSync(place).sort()).toEqual(['rules', 'run.config.ts', 'runs']);
  });

  it('is evaluated, inspected, reported and recorded', async () => {
    const { out } = await coplay(['evaluate', run, '--episodes', '10', '--json']);
    // Seat b says 1 in both rounds, which is right.
    const { byAgent } = JSON.parse(out) as { byAgent: Record<string, Record<string, number>> };
    expect(byAgent['b']!['return']).toBe(2);
    expect((await coplay(['inspect', run, '--config'])).out).toContain('"b": "always 1 from rules"');
    const page = join(place, 'report.html');
    expect((await coplay(['report', run, '--out', page])).code).toBe(0);
    expect(readFileSync(page, 'utf8')).toContain('guessing');
    const file = join(place, 'guess.coplay');
    expect(await coplay(['record', run, '--out', file])).toMatchObject({ code: 0 });
    const { steps } = await readRecording(file);
    expect(steps.map(({ actions }) => actions[1])).toEqual([1, 1]);
    // Own code gets the library's functions from where the command line has them: it knows the agents as PPO's.
    expect(steps[0].insights![0]!.policy).toHaveLength(2);
    expect((await coplay(['export', run, join(place, 'a.onnx')])).out).toContain('PPO of a after 32 steps');
  });

  it('goes on', async () => {
    const ended = await coplay(['resume', run, '--steps', '64']);
    expect([ended.code, ended.err]).toEqual([0, expect.stringContaining('resumed step-000000000032')]);
    expect((await coplay(['resume', run])).err).toContain('fewer than 32 steps done');
  });

  it('is refused with code that has changed, or is gone, until the copy is put back', async () => {
    for (const name of ['run.config.ts', 'rules/always.ts'] as const) {
      const file = join(place, name);
      const copy = join(run, 'code', name);
      writeFileSync(file, `${OWN[name]}\n`);
      const changed = await coplay(['evaluate', run]);
      const expected = `${file}: expected the code that the run was begun with`;
      const remedy = `Put it back as it was (a copy is ${copy}), or train a new run with it.`;
      expect(changed).toMatchObject({ code: 1, err: `${expected}, got another content. ${remedy}` });
      rmSync(file);
      const gone = await coplay(['resume', run, '--steps', '96']);
      expect(gone).toMatchObject({ code: 1, err: `${expected}, got no such file. ${remedy}` });
      copyFileSync(copy, file);
    }
    expect((await coplay(['evaluate', run, '--episodes', '2'])).code).toBe(0);
  });

  it('may import from folders around it', async () => {
    const outer = mkdtempSync(join(folder, 'outer-'));
    const inner = files(outer, {
      'configs/run.ts':
        "import { envSteps } from '../shared/steps';\nexport default { ...PLAIN, agents: () => AGENTS, envSteps };",
      'shared/steps.ts': 'export const envSteps = 32;',
    });
    const agents =
      "['agent_0', 'agent_1'].map((id) => ({ id, name: 'one', initialState: () => null, act: ({ rows }, state) => ({ state, actions: new Int32Array(rows).fill(1) }) }))";
    writeFileSync(inner, readFileSync(inner, 'utf8').replace('PLAIN', JSON.stringify(PLAIN)).replace('AGENTS', agents));
    const directory = join(outer, 'run');
    expect(await coplay(['train', inner, '--directory', directory])).toMatchObject({ code: 0 });
    expect(readdirSync(join(directory, 'code'))).toEqual(['configs', 'shared']);
    expect(await coplay(['evaluate', directory, '--episodes', '2'])).toMatchObject({ code: 0 });
  });
});

describe('a file of code with a mistake is refused', () => {
  const agents = (text: string) => module(`{ ...${JSON.stringify(PLAIN)}, agents: ${text} }`);
  it.each([
    ['nothing by default', 'export const game = 1;', 'expected a default export, got none'],
    ['no program', 'export default {', 'run.ts:1'],
    [
      'an option that is misspelt',
      module('{ evns: 3 }'),
      'option game: expected a game by its name, or one of your own',
    ],
    ['agents in a list', agents('[]'), 'option agents: expected agents by their kind, or a function that makes them'],
    [
      'a function that makes no list',
      agents('() => 3'),
      'agents: expected an agent for each of agent_0, agent_1, got 3',
    ],
    ['too few agents', agents('() => []'), 'selfPlay: expected one agent with the id "agent_0", got none'],
    ['a game that is none', module('{ game: () => 1, envSteps: 1 }'), 'option game: expected a game by its name'],
    ['an error of the library', "import { matrixGame } from '@coplay/envs'; matrixGame({ roundz: 1 });", '"roundz"'],
    ['an error of its own', "throw new Error('own mistake');", 'own mistake'],
    ['a package that is not there', "import 'no-such-package'; export default {};", 'no-such-package'],
  ])('%s', async (_, text, message) => {
    const place = mkdtempSync(join(folder, 'mistake-'));
    const path = files(place, { 'run.ts': text });
    const ended = await coplay(['train', path, '--directory', join(place, 'run')]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    expect(readdirSync(place)).toEqual(['run.ts']);
  });

  it('and one that is not there', async () => {
    const path = relative(process.cwd(), join(folder, 'nowhere.ts'));
    const ended = await coplay(['train', path]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining(`${path}, which does not exist`) });
    expect(existsSync(path)).toBe(false);
  });
});
