import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createGenerator, createRollout, vectorEnv } from '@coplay/core';
import { matrixGame } from '@coplay/envs';
import { selfPlay } from '@coplay/trainers';
import { createFile, templateKinds } from 'create-coplay';
import { describe, expect, it } from 'vitest';
import { root } from '../../../scripts/lib/workspaces';
import { createTemplateName as createAgent } from '../templates/agent';
import { createTemplateName as createLearner } from '../templates/learner';

const STAG = 0;
const HARE = 1;

describe('the agent of the template', () => {
  it('hunts hares after two hares of its co-player in a row, and stags otherwise', async () => {
    const game = matrixGame({ kind: 'stag-hunt', maxSteps: 6 });
    const shown = [HARE, STAG, HARE, HARE, STAG, HARE];
    const scripted = {
      ...{ id: 'agent_1', name: 'scripted', initialState: () => 0 },
      act: ({ rows }: { rows: number }, t: number) => ({ actions: new Int32Array(rows).fill(shown[t]), state: t + 1 }),
    };
    const agents = [createAgent({ game, id: 'agent_0' }), scripted];
    const { actions } = await createRollout(vectorEnv(game, { envs: 1 }), agents, createGenerator(1)).collect(6);
    const own = [0, 1, 2, 3, 4, 5].map((t) => actions[2 * t]);
    expect(own).toEqual([STAG, STAG, STAG, STAG, HARE, STAG]);
  });
});

describe('the learner of the template', () => {
  const game = matrixGame({ kind: 'prisoners-dilemma', maxSteps: 10 });
  const make = () => {
    const agents = game.agents.map((id) => createLearner({ game, id }));
    return selfPlay({ game, agents, envs: 16, seed: 1 });
  };

  it('learns: in one-off dilemmas, co-operation (its first choice) gives way to defection', async () => {
    const once = matrixGame({ kind: 'prisoners-dilemma', maxSteps: 1 });
    const run = selfPlay({ game: once, agents: once.agents.map((id) => createLearner({ game: once, id })), seed: 1 });
    const before = (await run.evaluate({ episodes: 500 })).mean;
    await run.train({ envSteps: 10_000 });
    const after = (await run.evaluate({ episodes: 500 })).mean;
    // 95 % of actions are the best ones: (0.95, 0.95) co-operates for 3, then defects for 1.
    expect(before).toBeGreaterThan(2.7);
    expect(after).toBeLessThan(1.4);
  });

  it('is the same after it was saved and restored', async () => {
    const [run, restored] = [make(), make()];
    await run.train({ envSteps: 1024 });
    await restored.restore(await run.state());
    const evaluations = await Promise.all([run, restored].map((one) => one.evaluate({ episodes: 50 })));
    expect(evaluations[1].returns).toEqual(evaluations[0].returns);
  });
});

describe('files of all kinds', { tags: ['learning'] }, () => {
  it.each(templateKinds)('run: %s', (kind) => {
    mkdirSync(join(root, '.cache'), { recursive: true });
    const folder = mkdtempSync(join(root, '.cache/new-'));
    const path = createFile({ kind, name: `my-${kind}`, directory: folder });
    const args = ['--conditions=@coplay/source', '--import', 'tsx', path, '1024'];
    const output = execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    expect(output).toMatch(/return +/);
    expect(existsSync(join(folder, `my-${kind}.svg`))).toBe(kind === 'study');
    rmSync(folder, { recursive: true });
  });
});

describe('the tests of a new project', { tags: ['learning'] }, async () => {
  await import('../templates/project/game.test');
});
