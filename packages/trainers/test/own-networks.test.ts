import { type Agent, createGenerator, createRollout, type Experience, vectorEnv } from '@coplay/core';
import { mixed, stagHunt } from '@coplay/envs';
import { layersModel, mlp, planesWorldModel, type TorsoBuilder } from '@coplay/models';
import { flatSize } from '@coplay/models/layers';
import { useBackend } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import {
  createOmg,
  createWorldModel,
  type DreamerAgentOptions,
  dreamerAgent,
  hopPlusAgent,
  type OmgOptions,
  selfPlay,
} from '@coplay/trainers';
import * as layers from '@tensorflow/tfjs-layers';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyGame } from './games';

beforeAll(async () => {
  await useBackend('wasm');
  useThreads(1); // no trials
});

const game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2, maxSteps: 8 });

/** Models that were built, the newest last. */
const built: layers.Sequential[] = [];

/** A model of one hidden layer, with an output layer where there are outputs. */
const denseModel = (units: number): TorsoBuilder =>
  layersModel((_shapes, inputs, outputs) => {
    const seeded = (seed: number) => ({ kernelInitializer: layers.initializers.glorotUniform({ seed }) });
    const model = layers.sequential({
      layers: [layers.layers.dense({ units, activation: 'tanh', inputShape: [inputs], ...seeded(1) })],
    });
    if (outputs) model.add(layers.layers.dense({ units: flatSize(outputs), ...seeded(2) }));
    built.push(model);
    return model;
  });

async function playOf(seed: number): Promise<Experience> {
  const agents = game.agents.map((id) => mixed({ game, id, p: 0.5 }));
  return createRollout(vectorEnv(game, { envs: 4, seed }), agents, createGenerator(seed)).collect(16);
}

type Arrays = Readonly<Record<string, { readonly data: ArrayLike<number> }>>;

/** Parameters of networks of one's own that differ. */
function changed(before: Arrays, after: Arrays): string[] {
  const names = Object.keys(after).filter((name) => name.includes('/body/') || name.startsWith('trunk/'));
  return names.filter((name) => Array.from(after[name].data).some((x, i) => x !== before[name].data[i])).sort();
}

const weights = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}/weight_${i}`);

describe('OMG with networks of one’s own', () => {
  const small = { goalDim: 4, hidden: [8], historyUnits: 6, vaeUpdates: 1, vaeSteps: 2, vaeBatchSize: 16 } as const;
  const sizes = { ...small, inferenceSteps: 2, batchSize: 4, selector: 'fixed' } as const;
  const omgOf = (options: Partial<OmgOptions>) => createOmg({ game, id: 'agent_0', ...sizes, ...options });
  const own = () => ({
    encoderNetwork: denseModel(6),
    decoderNetwork: denseModel(7),
    inferenceNetwork: denseModel(5),
  });

  it.each(['reconstruction', 'action'] as const)(
    'learns and restores their weights: %s',
    { tags: ['slow'] },
    async (loss) => {
      const omg = omgOf({ ...own(), loss });
      await omg.initialise(createGenerator(1));
      const generator = createGenerator(2);
      const stages = [await omg.parameters()];
      for (let update = 0; update < 2; update++) {
        omg.push(await playOf(update));
        await omg.update(generator);
        stages.push(await omg.parameters());
      }
      const [fresh, ofVae, ofInference] = stages;
      expect(changed(fresh, ofVae)).toEqual([...weights('vae/decoder/body', 4), ...weights('vae/encoder/body', 2)]);
      expect(changed(ofVae, ofInference)).toEqual([
        ...weights('inference/decoder/body', 4),
        ...weights('inference/state/body', 2),
      ]);
      const other = omgOf({ ...own(), loss });
      await other.restore(await omg.state());
      const experience = await playOf(9);
      expect(await other.inferOver(experience)).toEqual(await omg.inferOver(experience));
      expect(await other.latentsOf(experience)).toEqual(await omg.latentsOf(experience));
      omg.dispose();
      other.dispose();
    },
  );

  it('pretrains them, and freezes the VAE', async () => {
    const omg = omgOf(own());
    await omg.initialise(createGenerator(1));
    const fresh = await omg.parameters();
    await omg.pretrain(await playOf(1), { vaeSteps: 2, inferenceSteps: 2 }, createGenerator(2));
    const pretrained = await omg.parameters();
    expect(changed(fresh, pretrained).length).toBe(4 + 2 + 4 + 2);
    omg.push(await playOf(2));
    await omg.update(createGenerator(3));
    expect(changed(pretrained, await omg.parameters()).filter((name) => name.startsWith('vae'))).toEqual([]);
    omg.dispose();
  });

  it('says in its configuration which networks they are, and nothing of them without', () => {
    const { config } = omgOf({ encoderNetwork: mlp({ hidden: [3] }), inferenceNetwork: denseModel(2) });
    expect(JSON.parse(JSON.stringify(config))).toMatchObject({
      encoderNetwork: { kind: 'mlp', hidden: [3] },
      inferenceNetwork: { kind: 'layers-model' },
    });
    expect(Object.keys(omgOf({}).config).filter((name) => name.endsWith('Network'))).toEqual([]);
    const agent = hopPlusAgent({ game, id: 'agent_0', omg: { ...small, decoderNetwork: mlp() } });
    expect(JSON.stringify(agent.learner.config)).toContain('"decoderNetwork":{"kind":"mlp"');
    agent.learner.dispose();
  });

  it('refuses a state with other networks, and stays as it was', async () => {
    const omg = omgOf(own());
    await omg.initialise(createGenerator(1));
    const before = await omg.parameters();
    for (const [options, message] of [
      [
        { ...own(), encoderNetwork: denseModel(3) },
        /saved\.vae: expected encoder\/body\/weight_0 of shape \[\d+,6\].*got encoder\/body\/weight_0 of shape \[\d+,3\]/,
      ],
      [
        { ...own(), decoderNetwork: undefined },
        /saved\.networks\.decoderNetwork: expected {kind, name}, got none\. Make the learner with the networks/,
      ],
      [
        { ...own(), inferenceNetwork: mlp({ hidden: [5] }) },
        /saved\.networks\.inferenceNetwork\.kind: expected "layers-model", got "mlp"/,
      ],
    ] as const) {
      const { decoderNetwork, ...rest } = options;
      const other = omgOf({ ...rest, ...(decoderNetwork && { decoderNetwork }) });
      await other.initialise(createGenerator(2));
      await expect(omg.restore(await other.state())).rejects.toThrow(message);
      other.dispose();
    }
    expect(await omg.parameters()).toEqual(before);
    omg.dispose();
  });

  it('refuses what is no network, by the option', () => {
    expect(() => omgOf({ encoderNetwork: built[0] as never })).toThrow(
      /^createOmg: .*encoderNetwork.*a network: mlp\(\), conv\(\), layersModel/,
    );
    const wrong = layersModel((_shapes, size) =>
      layers.sequential({ layers: [layers.layers.dense({ units: 2, inputShape: [size] })] }),
    );
    expect(() => omgOf({ decoderNetwork: wrong })).toThrow(
      /^stateVae: option decoderNetwork: layersModel: expected one output \[batch, \d+\], or the outputs/,
    );
  });
});

describe('DreamerV3 with networks of one’s own', () => {
  const cues = tinyGame({ agents: 1, reward: (_, action) => action, maxSteps: 5 });
  // Updates are made by hand.
  const small = { size: 'debug', batchSize: 2, sequenceLength: 3, horizon: 2, startAfter: 1e6, warmUp: 0 } as const;
  const own = () => ({ encoderNetwork: denseModel(6), decoderNetwork: denseModel(7) });
  const runOf = (options: Omit<DreamerAgentOptions, 'game' | 'id'>) => {
    const agent = dreamerAgent({ game: cues, id: 'agent_0', ...small, replayCapacity: 100, ...options });
    const run = selfPlay({ game: cues, agents: [agent as Agent], envs: 2, steps: 8, seed: 3 });
    return { run, learner: agent.learner };
  };

  it.each(['coupled', 'separate'] as const)(
    'learns and restores their weights: %s',
    { tags: ['slow'] },
    async (schedule) => {
      const { run, learner } = runOf({ ...own(), schedule });
      await run.train({ envSteps: 16 });
      const before = await learner.parameters();
      await learner.train(1, createGenerator(1));
      const names = [...weights('dec/body', 4), ...weights('enc/body', 2)];
      expect(changed(before, await learner.parameters())).toEqual(names);
      const { run: second, learner: other } = runOf({ ...own(), schedule });
      await other.restore(await learner.state());
      const predicted = async (of: typeof learner) => of.openLoop(createGenerator(4), { batch: 2, context: 1 });
      expect(await predicted(other)).toEqual(await predicted(learner));
      run.dispose();
      second.dispose();
    },
  );

  it('compiled and joint does what operations one by one do', { tags: ['learning'] }, async () => {
    const logs = [];
    for (const executor of ['auto', 'eager'] as const) {
      const { run, learner } = runOf({ ...own(), executor });
      await run.train({ envSteps: 16 });
      logs.push(await learner.train(2, createGenerator(1)));
      run.dispose();
    }
    for (const [name, value] of Object.entries(logs[0])) {
      if (/loss/.test(name)) expect(Math.abs(value - logs[1][name]), name).toBeLessThan(1e-3 * (1 + Math.abs(value)));
    }
  });

  it('refuses a state with other networks, and stays as it was', async () => {
    const { run, learner } = runOf(own());
    await learner.initialise(createGenerator(1));
    const before = await learner.parameters();
    for (const [options, message] of [
      [{}, /saved\.networks\.encoderNetwork: expected {kind, name}, got none/],
      [
        { ...own(), encoderNetwork: mlp({ hidden: [6], activation: 'relu' }) },
        /saved\.networks\.encoderNetwork\.kind: expected "layers-model", got "mlp"/,
      ],
      [
        { ...own(), decoderNetwork: denseModel(8) },
        /saved\.arrays\.world: expected dec\/body\/weight_0 of shape .*,7\].*got dec\/body\/weight_0 of shape .*,8\]/,
      ],
    ] as const) {
      const { run: second, learner: other } = runOf(options);
      await other.initialise(createGenerator(2));
      await expect(learner.restore(await other.state())).rejects.toThrow(message);
      second.dispose();
    }
    expect(await learner.parameters()).toEqual(before);
    run.dispose();
  });

  it('refuses networks of equal shapes that compute something else', async () => {
    const [first, second] = (['tanh', 'relu'] as const).map((activation) => {
      return runOf({ encoderNetwork: mlp({ hidden: [6], activation }) });
    });
    for (const { learner } of [first, second]) await learner.initialise(createGenerator(1));
    const saved = await second.learner.state();
    await expect(first.learner.restore(saved)).rejects.toThrow(
      /saved\.networks\.encoderNetwork\.activation: expected "tanh", got "relu"/,
    );
    for (const { run } of [first, second]) run.dispose();
  });

  it('refuses networks that do not fit, and says which they are', () => {
    const agentOf = (options: Omit<DreamerAgentOptions, 'game' | 'id'>) =>
      dreamerAgent({ game: cues, id: 'agent_0', ...options });
    expect(() => agentOf({ decoderNetwork: {} as never })).toThrow(
      /^dreamerAgent: .*decoderNetwork.*a network: mlp\(\)/,
    );
    expect(() => agentOf({ encoder: mlp() } as never)).toThrow(/^dreamerAgent: .*encoderNetwork, decoderNetwork/);
    const { config } = agentOf({ ...small, encoderNetwork: mlp({ hidden: [4] }) }).learner;
    expect(JSON.parse(JSON.stringify(config))).toMatchObject({ encoderNetwork: { kind: 'mlp', hidden: [4] } });
    expect('decoderNetwork' in config).toBe(false);
  });
});

describe('a world model of planes with a network of one’s own', () => {
  const network = layersModel(({ planes }) =>
    layers.sequential({
      layers: [
        layers.layers.reshape({ inputShape: [flatSize({ planes })], targetShape: [...planes] }),
        layers.layers.conv2d({
          ...{ filters: 3, kernelSize: 3, padding: 'same', activation: 'relu' },
          kernelInitializer: layers.initializers.glorotUniform({ seed: 1 }),
        }),
        layers.layers.flatten(),
      ],
    }),
  );
  const learnerOf = () => createWorldModel({ game, model: planesWorldModel({ network }), stepsPerUpdate: 4 });

  it('learns and restores its weights', async () => {
    const learner = learnerOf();
    await learner.initialise(createGenerator(1));
    const fresh = await learner.state();
    learner.push(await playOf(1));
    await learner.update(createGenerator(2));
    const saved = await learner.state();
    const paramsOf = (state: typeof saved) =>
      Object.values(state['members'] as unknown as Record<string, { readonly params: Arrays }>)[0].params;
    expect(changed(paramsOf(fresh), paramsOf(saved))).toEqual(weights('trunk', 2));
    const other = learnerOf();
    await other.restore(saved);
    expect(await other.state()).toEqual(saved);
    const plain = createWorldModel({ game, model: planesWorldModel() });
    await expect(plain.restore(saved)).rejects.toThrow(
      /worldModel\.restore: saved\.model\.network: expected undefined, got/,
    );
    for (const one of [learner, other, plain]) one.dispose();
  });
});
