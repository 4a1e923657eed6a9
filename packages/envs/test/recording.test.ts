import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Agent, type Game, ndarray, rulesSimulator, type Simulator } from '@coplay/core';
import {
  catchGame,
  checkRecording,
  decodeRecording,
  encodeRecording,
  matrixGame,
  nearestHare,
  nearestStag,
  type Recording,
  randomAgent,
  readRecording,
  recordEpisode,
  replayEpisode,
  stagHunt,
  writeRecording,
} from '@coplay/envs';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'coplay-recording-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 6 });
const hunters = () => game.agents.map((id) => nearestHare({ game, id }));

/** An agent that stays and tells the same thing in every step. */
function teller(played: Game, id: string, extras: Record<string, ReturnType<typeof ndarray>>): Agent {
  const rule = randomAgent({ game: played, id });
  return {
    ...rule,
    initialState: (rows) => rule.initialState(rows),
    act: async (input, _, generator) => ({ ...(await rule.act(input, null, generator)), extras }),
  };
}

describe('insights', () => {
  it('are written down as they were told, by co-player, and null for who has left or tells nothing', async () => {
    const K = game.actions;
    const policy = Float32Array.from({ length: K }, (_, k) => (k === 2 ? 0.75 : 0.25 / (K - 1)));
    const extras = {
      policy: ndarray(policy, [1, K]),
      values: ndarray(Float32Array.of(-1.5)),
      visits: ndarray(
        Int32Array.from({ length: K }, (_, k) => k),
        [1, K],
      ),
      beliefs: ndarray(Float32Array.of(0, 0, 0.25, 0.75), [1, 4]),
    };
    const agents = [teller(game, 'agent_0', extras), nearestHare({ game, id: 'agent_1' })];
    const recording = await recordEpisode(game, agents, { seed: 3 });
    expect(recording.goals).toEqual(['stag', 'hare']);
    const first = recording.steps[0].insights!;
    expect(first[0]).toEqual({
      policy: [...policy],
      value: -1.5,
      beliefs: { agent_1: [0.25, 0.75] },
      visits: Array.from({ length: K }, (_, k) => k),
    });
    expect(first[1]).toBeNull();
    for (const { actions, insights } of recording.steps) {
      // Where agent_0 has left, nobody tells anything.
      expect(insights === undefined ? null : insights[0] !== null).toBe(actions[0] === null ? null : true);
    }
    replayEpisode(game, recording);
  });

  it('leave the episode as it is', async () => {
    const plain = await recordEpisode(game, hunters(), { seed: 4 });
    const rich = await recordEpisode(game, hunters(), {
      seed: 4,
      observations: true,
      simulator: rulesSimulator(game),
    });
    expect(rich.steps.map(({ predicted: _, ...step }) => step)).toEqual(plain.steps);
    expect(rich.frames.map(({ observations: _, ...frame }) => frame)).toEqual(plain.frames);
    expect(rich.generator).toEqual(plain.generator);
    expect(plain.goals).toBeUndefined();
    expect(plain.observation).toBeUndefined();
  });

  it('of another size are refused by name', async () => {
    const agents = [teller(game, 'agent_0', { policy: ndarray(new Float32Array(2), [1, 2]) }), hunters()[1]];
    await expect(recordEpisode(game, agents)).rejects.toThrow('recordEpisode: agent_0: expected the extra policy of 7');
  });
});

describe('observations', () => {
  it('are what the rules show in each moment, null for who has left', async () => {
    const recording = await recordEpisode(game, hunters(), { seed: 4, observations: true });
    expect(recording.observation).toEqual(game.observation);
    const [rows, columns, C] = game.observation['planes'].shape;
    const channels = game.observation['planes'].channels!;
    for (const { observations, scene, state } of recording.frames) {
      observations!.forEach((seen, seat) => {
        const active = game.isActive(Int32Array.from(state), 0, seat);
        expect(seen === null).toBe(!active);
        if (!seen) return;
        const planes = seen['planes'];
        expect(planes).toHaveLength(rows * columns * C);
        // By the picture of the same moment: the hares of the channel are those of the scene.
        const hares = scene!.items
          .filter(({ kind }) => kind === 'hare')
          .map((item) => item.row * columns + item.column);
        const shown = planes.flatMap((value, i) =>
          i % C === channels.indexOf('hares') && value > 0 ? [(i - (i % C)) / C] : [],
        );
        expect(shown).toEqual(hares.sort((a, b) => a - b));
      });
    }
  });
});

describe('predictions', () => {
  it('of the rules themselves are what happens, in a game without chance', async () => {
    const still = matrixGame({ maxSteps: 3 });
    const agents = still.agents.map((id) => randomAgent({ game: still, id }));
    const { frames, steps } = await recordEpisode(still, agents, {
      simulator: rulesSimulator(still),
      observations: true,
    });
    steps.forEach(({ predicted, rewards, terminated }, t) => {
      expect(predicted).toEqual({ ...frames[t + 1], rewards, terminated });
    });
  });

  it('are made of the state before the step and of what everyone did', async () => {
    const asked: { state: number[]; actions: number[] }[] = [];
    const frozen: Simulator = {
      game,
      step(states, actions, _, result) {
        asked.push({ state: [...states], actions: [...actions] });
        result.rewards.fill(9);
      },
    };
    const { frames, steps } = await recordEpisode(game, hunters(), { seed: 4, simulator: frozen });
    expect(asked).toHaveLength(steps.length);
    steps.forEach(({ predicted, actions }, t) => {
      expect(asked[t]).toEqual({ state: [...frames[t].state], actions: actions.map((action) => action ?? 0) });
      expect(predicted!.state).toEqual(frames[t].state); // nothing moves in it
      expect(predicted!.scene).toEqual(frames[t].scene);
      expect(predicted!.rewards).toEqual([9, 9]);
    });
  });

  it('of another game are refused', async () => {
    const simulator = rulesSimulator(catchGame());
    await expect(recordEpisode(game, hunters(), { simulator })).rejects.toThrow('a simulator of states of');
  });
});

describe('files', () => {
  const big = stagHunt({ size: 8, agents: 4, stags: 2, hares: 6 });
  const record = () => {
    const agents = big.agents.map((id) => nearestStag({ game: big, id }));
    return recordEpisode(big, agents, { seed: 2, observations: true, simulator: rulesSimulator(big) });
  };

  it('hold the whole recording, and are small', async () => {
    const recording = await record();
    const path = join(folder, 'episode.coplay');
    await writeRecording(path, recording);
    expect(await readRecording(path)).toEqual(recording);
    const bytes = readFileSync(path);
    expect(JSON.parse(gunzipSync(bytes).toString())).toEqual(JSON.parse(JSON.stringify(recording)));
    console.log(`${recording.steps.length} steps: ${bytes.length} bytes, ${gunzipSync(bytes).length} unpacked`);
    expect(bytes.length).toBeLessThan(10_000);
    expect(readdirSync(folder)).toEqual(['episode.coplay']);
  });

  it('may be plain JSON', async () => {
    const recording = await recordEpisode(game, hunters());
    const path = join(folder, 'plain.json');
    writeFileSync(path, JSON.stringify(recording));
    expect(await readRecording(path)).toEqual(recording);
  });

  it('that are damaged are refused by name, wherever a byte is wrong', async () => {
    const recording = await recordEpisode(game, hunters());
    const bytes = await encodeRecording(recording);
    const path = join(folder, 'damaged.coplay');
    for (let at = 10; at < bytes.length; at += 37) {
      const damaged = bytes.slice();
      damaged[at] ^= 0x55;
      writeFileSync(path, damaged);
      await expect(readRecording(path)).rejects.toThrow(`readRecording(${path}): expected a`);
    }
    await expect(decodeRecording(bytes.slice(0, -20))).rejects.toThrow('damaged');
    await expect(readRecording(join(folder, 'nowhere.coplay'))).rejects.toThrow('to read');
    await expect(writeRecording(join(folder, 'no/where.coplay'), recording)).rejects.toThrow('to write');
  });

  it('are not written of what is no recording, nor of a model that foretells no numbers', async () => {
    const path = join(folder, 'kept.coplay');
    const recording = await recordEpisode(game, hunters());
    await writeRecording(path, recording);
    await expect(writeRecording(path, { ...recording, steps: [] })).rejects.toThrow('writeRecording: expected a whole');
    expect(await readRecording(path)).toEqual(recording);
    const rules = rulesSimulator(game);
    const diverged: typeof rules = {
      ...rules,
      async step(states, actions, dice, result) {
        await rules.step(states, actions, dice, result);
        result.rewards.fill(Number.NaN);
      },
    };
    await expect(recordEpisode(game, hunters(), { simulator: diverged })).rejects.toThrow('finite rewards');
  });

  it('of another version, and what only looks like a recording, are refused', async () => {
    const recording = await recordEpisode(game, hunters());
    const changed = (change: object) => gzipSync(JSON.stringify({ ...recording, ...change }));
    await expect(decodeRecording(changed({ version: 2 }))).rejects.toThrow('got version 2');
    await expect(decodeRecording(changed({ format: 'x' }))).rejects.toThrow('got format "x"');
    await expect(decodeRecording(changed({ steps: recording.steps.slice(1) }))).rejects.toThrow('frames and');
    await expect(decodeRecording(changed({ players: ['one'] }))).rejects.toThrow('1 players and 2 agents');
    const [first, ...rest] = recording.steps;
    const broken: Partial<Recording>[] = [
      { steps: [{ ...first, rewards: [1] }, ...rest] },
      { steps: [{ ...first, actions: [99, 0] }, ...rest] },
    ];
    for (const change of broken) await expect(decodeRecording(changed(change))).rejects.toThrow('steps.0');
    const texts = { steps: [{ ...first, rewards: ['much', 0] }, ...rest] };
    await expect(decodeRecording(changed(texts))).rejects.toThrow('steps.0.rewards.0');
    expect(() => checkRecording('here', null)).toThrow('here: expected a recording');
  });

  it('with a name __proto__, an endless number or a text for numbers are refused by name', async () => {
    const recording = await recordEpisode(game, hunters());
    const goals = ['one', 'two'];
    const observation = { seen: { shape: [1] } };
    const seen = recording.agents.map(() => ({ seen: [1] }));
    const insights = [{ beliefs: { [recording.agents[1]]: [0.5, 0.5] } }, null];
    const frames = recording.frames.map((frame) => ({ ...frame, observations: seen }));
    const steps = recording.steps.map((step) => ({ ...step, insights }));
    const good = JSON.stringify({ ...recording, goals, observation, frames, steps });
    const read = (text: string) => decodeRecording(new TextEncoder().encode(text));
    await expect(read(good)).resolves.toMatchObject({ goals });
    await expect(read(good.replace('"seen":{', '"__proto__":null,"seen":{'))).rejects.toThrow('"__proto__"');
    await expect(read(good.replace('"seen":[1]', '"seen":[1],"__proto__":"x"'))).rejects.toThrow('"__proto__"');
    await expect(read(good.replace('"seen":[1]', '"seen":[1],"constructor":[1]'))).rejects.toThrow('"constructor"');
    await expect(read(good.replace('"seen":[1]', '"seen":[1e999]'))).rejects.toThrow('observations.0.seen.0');
    const odd = good.replaceAll(`"${recording.agents[1]}"`, '"__proto__"');
    await expect(read(odd)).resolves.toMatchObject({ goals });
    await expect(read(odd.replace('[0.5,0.5]', '"xx"'))).rejects.toThrow('beliefs.__proto__: "xx"');
    await expect(read(odd.replace('[0.5,0.5]', '[1e999,0]'))).rejects.toThrow('beliefs.__proto__: [Infinity, 0]');
  });

  it('whose parts do not fit each other, are refused by the name of the part', async () => {
    const K = game.actions;
    const extras = {
      policy: ndarray(new Float32Array(K).fill(1 / K), [1, K]),
      visits: ndarray(new Int32Array(K), [1, K]),
      beliefs: ndarray(Float32Array.of(0, 0, 0.25, 0.75), [1, 4]),
    };
    const agents = [teller(game, 'agent_0', extras), nearestHare({ game, id: 'agent_1' })];
    const rich = { seed: 3, observations: true, simulator: rulesSimulator(game) };
    const recording = await recordEpisode(game, agents, rich);
    expect(checkRecording('here', recording)).toBe(recording);
    type Plain = Record<string, never>;
    const complaint = (change: (copy: Plain) => void): string => {
      const copy = structuredClone(recording) as unknown as Plain;
      change(copy);
      try {
        checkRecording('here', copy);
        return 'accepted';
      } catch (error) {
        return (error as Error).message.replace('here: expected a whole recording, got ', '');
      }
    };
    const at = (path: string, value: unknown) => (copy: Plain) => {
      const keys = path.split('.');
      const last = keys.pop()!;
      const parent = keys.reduce<Plain>((inner, key) => inner[key], copy);
      if (value === undefined) delete parent[last];
      else parent[last] = value as never;
    };
    const cases: [string, unknown, string][] = [
      ['steps.1.actions.1', K, `steps.1.actions.1: ${K}, of ${K} actions`],
      ['steps.0.actions.0', -1, `steps.0.actions.0: -1, of ${K} actions`],
      ['steps.0.actions', [4], 'steps.0.actions: 1, of 2 agents'],
      ['steps.0.terminated', [true, true, true], 'steps.0.terminated: 3, of 2 agents'],
      ['steps.0.insights', [null], 'steps.0.insights: 1, of 2 agents'],
      ['steps.0.insights.0.policy', [1], `steps.0.insights.0.policy: 1, of ${K} actions`],
      ['steps.0.insights.0.visits', [], `steps.0.insights.0.visits: 0, of ${K} actions`],
      ['steps.0.insights.0.beliefs.agent_1', [1], 'steps.0.insights.0.beliefs.agent_1: 1, of 2 goals'],
      ['steps.0.insights.0.beliefs.agent_0', [0, 1], 'steps.0.insights.0.beliefs: of "agent_0", who is no co-player'],
      ['goals', undefined, 'steps.0.insights.0.beliefs: but no goals'],
      ['steps.0.predicted.rewards', [0], 'steps.0.predicted.rewards: 1, of 2 agents'],
      ['steps.0.predicted.state', [0], `steps.0.predicted.state: 1, of ${game.stateSize} numbers`],
      ['frames.1.state', [0], `frames.1.state: 1, of ${game.stateSize} numbers`],
      ['frames.0.observations', [null], 'frames.0.observations: 1, of 2 agents'],
      ['frames.0.observations.1.planes', [0, 1], 'frames.0.observations.1.planes: 2 numbers, of shape [3,3,5]'],
      ['frames.0.observations.1.planes', undefined, 'frames.0.observations.1.planes: 0 numbers'],
      ['frames.0.observations.0.sound', [1], 'frames.0.observations.0: "sound", which is none of ["planes"'],
      ['observation.planes.shape', [3, 3, 6], 'frames.0.observations.0.planes: 45 numbers, of shape [3,3,6]'],
      ['observation', undefined, 'frames.0.observations.0: but no observation'],
      ['frames.1.scene.rows', 4, 'frames.1.scene: 4 x 3, where others are 3 x 3'],
      ['frames.0.scene.items.0.column', 3, 'frames.0.scene: '],
      ['agents', ['agent_0', 'agent_0'], 'agents: ["agent_0", "agent_0"], of which two are the same'],
    ];
    for (const [path, value, expected] of cases) expect(complaint(at(path, value))).toContain(expected);
  });
});
