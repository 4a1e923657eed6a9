import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, Metrics, SavedState } from '@coplay/core';
import { mixed, stagHunt, titForTat } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { pastSelves, ppoAgent, selfPlay } from '@coplay/trainers';
import { flattenState, unflattenState } from '@coplay/trainers/checkpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const network = mlp({ hidden: [8] });
const game = stagHunt({ size: 3, agents: 4, stags: 1, hares: 2, maxSteps: 9, preyMoves: 0.3 });
const directories: string[] = [];

beforeAll(async () => {
  await useBackend('wasm');
});
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'coplay-resume-'));
  directories.push(made);
  return join(made, 'run');
}

/** A run with everything that has a state: a recurrent learner with normalised values, one with past selves, rules. */
function makeRun(metrics: Metrics[], at?: string, onUpdate: (update: number) => void = () => {}) {
  const recurrent = ppoAgent({
    game,
    id: 'agent_0',
    network,
    recurrent: 4,
    ppo: { normaliseValues: true, sequenceLength: 4 },
  });
  const plain = ppoAgent({ game, id: 'agent_1', network, ppo: { minibatchSize: 16, learningRate: 0.01 } });
  const agents: Agent[] = [
    recurrent,
    plain,
    pastSelves({ id: 'agent_2', of: plain, every: 2, size: 2, latest: 0.5 }),
    titForTat({ game, id: 'agent_3' }),
  ];
  const log = {
    start: () => {},
    close: () => {},
    write: (entry: { metrics: Metrics }) => void metrics.push(withoutTimes(entry.metrics)),
  };
  // Rollouts of 8 steps and episodes of 9: every stop is in the middle of episodes.
  return selfPlay({
    game,
    agents,
    envs: 3,
    steps: 8,
    seed: 7,
    log: [log],
    warn: () => {},
    onRollout: (_, { update }) => onUpdate(update),
    ...(at ? { directory: at } : {}),
  });
}

const STEPS = 24;
const LAST = 10;

async function weights(run: ReturnType<typeof makeRun>): Promise<SavedState> {
  const state = await run.state();
  run.dispose();
  return state;
}

async function straight() {
  const metrics: Metrics[] = [];
  const run = makeRun(metrics);
  await run.train({ envSteps: LAST * STEPS });
  return { metrics, state: await weights(run) };
}

describe('a run that stopped and was resumed', () => {
  it.each([1, 4, 7])('gives the same bits when it stopped after update %i', { tags: ['slow'] }, async (stop) => {
    const expected = await straight();
    const at = directory();
    const metrics: Metrics[] = [];
    const controller = new AbortController();
    const first = makeRun(metrics, at, (update) => {
      if (update === stop) controller.abort();
    });
    await first.train({ envSteps: LAST * STEPS, signal: controller.signal });
    first.dispose();
    expect(metrics).toHaveLength(stop);

    const second = makeRun(metrics, at);
    expect(await second.resume()).toBe(true);
    expect(second.envSteps).toBe(stop * STEPS);
    await second.train({ envSteps: LAST * STEPS });
    expect(metrics).toEqual(expected.metrics);
    expect(await weights(second)).toEqual(expected.state);
  });

  it('survives the way through a checkpoint’s files exactly', async () => {
    const { state } = await straight();
    expect(unflattenState(flattenState(state))).toEqual(state);
  });
});

describe('resume', () => {
  it('is false where there is nothing to resume', async () => {
    expect(await makeRun([], directory()).resume()).toBe(false);
  });

  it('passes over a damaged checkpoint by name and takes the one before it', async () => {
    const at = directory();
    const run = makeRun([], at);
    await run.train({ envSteps: STEPS });
    await run.train({ envSteps: 2 * STEPS });
    run.dispose();
    const names = readdirSync(join(at, 'checkpoints')).sort();
    expect(names).toEqual(['step-000000000024', 'step-000000000048']);
    writeFileSync(join(at, 'checkpoints', names[1], 'arrays.safetensors'), 'damaged');
    const lines: string[] = [];
    const log = { start: () => {}, close: () => {}, write: () => {} };
    const agents = game.agents.map((id) => mixed({ game, id, p: 0.5 }));
    const other = selfPlay({
      game,
      agents,
      envs: 3,
      steps: 8,
      seed: 7,
      log: [log],
      directory: at,
      warn: (line) => void lines.push(line),
    });
    // Other agents: the configuration differs, and is refused by field.
    await expect(other.resume()).rejects.toThrow(/resumeFits: expected the run of the checkpoint.*agents/);
    expect(lines.join('\n')).toContain('step-000000000048');
    const again = makeRun([], at);
    expect(await again.resume()).toBe(true);
    expect(again.envSteps).toBe(STEPS);
    again.dispose();
  });
});

describe('a run’s directory', () => {
  /** Its checkpoints by name and manifest, and its configuration. */
  const content = (at: string) => {
    const names = readdirSync(join(at, 'checkpoints')).sort();
    const manifests = names.map((name) => readFileSync(join(at, 'checkpoints', name, 'manifest.json'), 'utf8'));
    return [names, manifests, existsSync(join(at, 'config.json')) && readFileSync(join(at, 'config.json'), 'utf8')];
  };

  async function trained(at: string): Promise<void> {
    const run = makeRun([], at);
    await run.train({ envSteps: STEPS });
    await run.train({ envSteps: 2 * STEPS });
    run.dispose();
  }

  it.each(['config.json and checkpoints', 'checkpoints alone'])(
    'with %s is closed to another run',
    { tags: ['slow'] },
    async (kind) => {
      const at = directory();
      await trained(at);
      if (kind === 'checkpoints alone') rmSync(join(at, 'config.json'));
      const before = content(at);
      const donor = makeRun([]);
      await donor.train({ envSteps: 3 * STEPS });
      const saved = await donor.state();
      const restored = makeRun([], at);
      await restored.restore(saved);
      const fresh = makeRun([], at);
      for (const run of [restored, fresh]) {
        const message = /without a run in it, got one with .*Choose another directory, or resume that run/;
        await expect(run.save()).rejects.toThrow(message);
        await expect(run.train({ envSteps: 4 * STEPS })).rejects.toThrow(message);
        expect(content(at)).toEqual(before);
      }
      for (const run of [donor, restored, fresh]) run.dispose();
    },
  );

  it('takes a save before the first update, and goes on', async () => {
    const at = directory();
    const run = makeRun([], at);
    expect(await run.save()).toContain('step-000000000000');
    await run.train({ envSteps: STEPS });
    run.dispose();
    expect(content(at)[0]).toEqual(['step-000000000000', 'step-000000000024']);
  });

  it('gets a checkpoint of a restored state, also at the step of the last one', async () => {
    const at = directory();
    const run = makeRun([], at);
    await run.train({ envSteps: STEPS });
    const donor = makeRun([]);
    await donor.train({ envSteps: STEPS });
    const saved = { ...(await donor.state()), updates: 7 };
    await run.restore(saved);
    await run.train({ envSteps: STEPS });
    const again = makeRun([], at);
    expect(await again.resume()).toBe(true);
    expect(again.updates).toBe(7);
    for (const each of [run, donor, again]) each.dispose();
  });

  it('is not begun anew where no checkpoint can be read', async () => {
    const at = directory();
    await trained(at);
    for (const name of readdirSync(join(at, 'checkpoints'))) {
      writeFileSync(join(at, 'checkpoints', name, 'state.json'), 'damaged');
    }
    const before = content(at);
    const run = makeRun([], at);
    await expect(run.resume()).rejects.toThrow(
      /resume: expected a checkpoint that can be read .*got state\.json of 7 bytes/,
    );
    await expect(run.train({ envSteps: 3 * STEPS })).rejects.toThrow(/without a run in it/);
    expect(content(at)).toEqual(before);
    run.dispose();
  });

  it('stays that of the run which wrote there last', async () => {
    const at = directory();
    const late = makeRun([], at);
    expect(await late.resume()).toBe(false); // nothing is there yet
    const first = makeRun([], at);
    await first.train({ envSteps: 2 * STEPS });
    await expect(late.train({ envSteps: STEPS })).rejects.toThrow(
      /as this run left it, got a checkpoint of another run/,
    );
    const second = makeRun([], at);
    expect(await second.resume()).toBe(true);
    await second.train({ envSteps: 4 * STEPS });
    const before = content(at);
    const message = /selfPlay: expected .* as this run left it, got a checkpoint of another run since: step-0000000000/;
    await expect(first.train({ envSteps: 3 * STEPS })).rejects.toThrow(message);
    await expect(first.save()).rejects.toThrow(message);
    expect(content(at)).toEqual(before);
    rmSync(at, { recursive: true });
    await first.save(); // there is nothing to lose any more
    expect(content(at)[0]).toEqual(['step-000000000048']);
    for (const run of [late, first, second]) run.dispose();
  });

  it('with the configuration of another run is refused, before there is a checkpoint too', async () => {
    const at = directory();
    await trained(at);
    rmSync(join(at, 'checkpoints'), { recursive: true });
    const config = JSON.parse(readFileSync(join(at, 'config.json'), 'utf8')) as object;
    writeFileSync(join(at, 'config.json'), JSON.stringify({ ...config, seed: 8 }));
    const run = makeRun([], at);
    await expect(run.resume()).rejects.toThrow(/config\.json: .*seed 8.*got seed 7/);
    await expect(run.train({ envSteps: STEPS })).rejects.toThrow(/without a run in it/);
    run.dispose();
  });

  it('with a file in place of the checkpoints is refused by name', async () => {
    const at = directory();
    mkdirSync(at);
    writeFileSync(join(at, 'checkpoints'), '');
    const run = makeRun([], at);
    await expect(run.resume()).rejects.toThrow(/latestCheckpoint: expected to list .*checkpoints, got .*ENOTDIR/);
    run.dispose();
  });
});

function withoutTimes(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([key]) => !key.startsWith('time/')));
}
