import { createGenerator, createRollout, type Experience, type Game, vectorEnv } from '@coplay/core';
import { snowdrift, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { type PpoAgentOptions, ppoAgent, sharedPpoAgents, toOnnx } from '@coplay/trainers';
import { onnxAgent } from '@coplay/viewer';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(() => useBackend('cpu'));

const game = stagHunt({ size: 4, agents: 3, stags: 1, hares: 2, maxSteps: 6 });

const KINDS: Readonly<Record<string, readonly [Game, Omit<PpoAgentOptions, 'game' | 'id'>]>> = {
  plain: [game, {}],
  'reading previous actions and its own id': [game, { inputs: { previousActions: true, agentId: true, mask: true } }],
  recurrent: [game, { recurrent: 8 }],
  'with a field of its own name': [
    stagHunt({ size: 3, agents: 3, stags: 1, hares: 2, maxSteps: 6, previousActions: true }),
    {},
  ],
  'of the snowdrift game': [snowdrift({ size: 4, agents: 3, drifts: 3, maxSteps: 6 }), {}],
};

/** 20 steps in each of 4 games. */
function play(rules: Game, agents: Parameters<typeof createRollout>[1]): Promise<Experience> {
  return createRollout(vectorEnv(rules, { envs: 4, seed: 7 }), agents, createGenerator(8)).collect(20);
}

describe('onnxAgent', () => {
  it.each(Object.entries(KINDS))('%s plays as the agent that was trained', async (_, [rules, options]) => {
    const agents = rules.agents.map((id) =>
      ppoAgent({ game: rules, id, network: mlp({ hidden: [16] }), executor: 'eager', ...options }),
    );
    await Promise.all(agents.map((agent, i) => agent.learner.initialise(createGenerator(i))));
    const loaded = await Promise.all(
      agents.map(async (agent) => {
        const session = await InferenceSession.create(await toOnnx(agent));
        return onnxAgent({ game: rules, id: agent.id, session, Tensor });
      }),
    );
    const [trained, played] = [await play(rules, agents), await play(rules, loaded)];
    expect(played.actions).toEqual(trained.actions);
    const worst = played.extras['logProbs'].data.map((x: number, i: number) =>
      Math.abs(x - trained.extras['logProbs'].data[i]),
    );
    expect(Math.max(...worst)).toBeLessThan(1e-5);
    expect(new Set(played.actions).size).toBeGreaterThan(3);
  });

  it('plays one file in several seats', async () => {
    const agents = sharedPpoAgents({ game, network: mlp({ hidden: [16] }), executor: 'eager' });
    await agents[0].learner.initialise(createGenerator(1));
    const session = await InferenceSession.create(await toOnnx(agents[0]));
    const loaded = game.agents.map((id) => onnxAgent({ game, id, session, Tensor }));
    expect((await play(game, loaded)).actions).toEqual((await play(game, agents)).actions);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('names the field of an observation that shows %d', async (value) => {
    const session = {
      ...{ inputNames: ['time'], inputMetadata: [{ name: 'time', shape: ['batch', 1] }], outputNames: ['logProbs'] },
      run: async () => ({}),
    };
    const agent = onnxAgent({ game, id: 'agent_0', session, Tensor: class {} });
    const env = vectorEnv(game, { envs: 1 });
    const input = {
      ...{ rows: 1, observations: { time: Float32Array.of(value) }, masks: env.masks.slice(0, game.actions) },
      ...{ active: Uint8Array.of(1), isFirst: Uint8Array.of(1), previousActions: Int32Array.of(-1, -1, -1) },
    };
    await expect(agent.act(input, agent.initialState(1), createGenerator(1))).rejects.toThrow(
      `onnxAgent (agent_0): expected finite numbers in the observation field "time", got ${value} for agent_0`,
    );
  });

  it('refuses a policy of another game, and what is none', async () => {
    const agent = ppoAgent({ game, id: 'agent_0', network: mlp({ hidden: [8] }), executor: 'eager' });
    await agent.learner.initialise(createGenerator(1));
    const session = await InferenceSession.create(await toOnnx(agent));
    const seat = (rules: Game) => () => onnxAgent({ game: rules, id: 'agent_0', session, Tensor });
    expect(seat(stagHunt({ size: 8 }))).toThrow('expected planes of shape [8,8,7], as in this stag-hunt, got [4,4,6]');
    expect(() => onnxAgent({ game, id: 'agent_9', session, Tensor })).toThrow('got "agent_9"');
    const other = { ...session, inputNames: ['words'], outputNames: [], inputMetadata: [], run: session.run };
    expect(() => onnxAgent({ game, id: 'agent_0', session: other, Tensor })).toThrow(
      'inputs that stag-hunt has, got words',
    );
  });

  it('refuses options that it does not have, or that are of another kind', () => {
    const session = { inputNames: [], outputNames: ['logProbs'], inputMetadata: [], run: async () => ({}) };
    const options = { game, id: 'agent_0', session, Tensor };
    expect(onnxAgent(options).name).toBe('ONNX policy');
    expect(() => onnxAgent({ ...options, nmae: 'mine' } as never)).toThrow(
      'onnxAgent: expected known options only, got the unknown option "nmae". Did you mean name? The options are: game, id, session, Tensor, name.',
    );
    expect(() => onnxAgent({ ...options, session: 'policy.onnx' as never })).toThrow('a session of ONNX Runtime');
    expect(() => onnxAgent({ ...options, Tensor: undefined as never })).toThrow("ONNX Runtime's class Tensor");
  });
});
