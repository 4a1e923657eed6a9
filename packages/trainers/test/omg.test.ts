import { createGenerator, createRollout, type Experience, type Game, vectorEnv } from '@coplay/core';
import { matrixGame, mixed, randomAgent, stagHunt } from '@coplay/envs';
import { createOmg, type OmgOptions } from '@coplay/trainers';
import { describe, expect, it } from 'vitest';

const game = stagHunt({ size: 4, agents: 3, stags: 1, hares: 3, maxSteps: 12 });

/** Small enough to compile and train in moments. */
const small = {
  goalDim: 4,
  hidden: [32],
  historyUnits: 16,
  stateUnits: 16,
  vaeUpdates: 2,
  vaeSteps: 4,
  vaeBatchSize: 64,
  inferenceSteps: 4,
  batchSize: 8,
  valuesOf: 'coPlayer',
  learningRate: 3e-3,
} as const;

async function playOf(of: Game, seed: number, envs: number, steps: number): Promise<Experience> {
  const agents = of.agents.map((id) => (of.grid ? mixed({ game: of, id, p: 0.5 }) : randomAgent({ game: of, id })));
  return createRollout(vectorEnv(of, { envs, seed }), agents, createGenerator(seed)).collect(steps);
}

const learnerOf = async (options: Partial<OmgOptions> = {}) => {
  const omg = createOmg({ game, id: 'agent_1', ...small, ...options });
  await omg.initialise(createGenerator(1));
  return omg;
};

/** The number of the step of its episode, as a value: the last state that is reached has the highest. */
const elapsed = ({ observations, active }: Experience) =>
  Float32Array.from(active, (_, row) => observations['time'][row]);

/** With subgoals -1 everywhere, as if the agent had inferred them. */
function withSubgoals(experience: Experience, width: number): Experience {
  const { envs, steps, agents } = experience;
  const shape = [envs, steps, agents.length, width];
  const data = new Float32Array(envs * steps * agents.length * width).fill(-1);
  return { ...experience, extras: { subgoals: { data, shape } } };
}

describe('OMG', () => {
  it('trains the VAE first, then the inference towards a VAE that is frozen', async () => {
    const omg = await learnerOf();
    const generator = createGenerator(2);
    const rounds = [];
    for (let i = 0; i < 4; i++) {
      const experience = await playOf(game, 10 + i, 8, 24);
      omg.push(experience, elapsed(experience));
      const before = await omg.parameters();
      const metrics = await omg.update(generator);
      const after = await omg.parameters();
      const changed = Object.keys(after).filter((name) => after[name].data.some((x, k) => x !== before[name].data[k]));
      rounds.push({ metrics: Object.keys(metrics), changed: [...new Set(changed.map((name) => name.split('/')[0]))] });
    }
    const vae = ['omg/vae_loss', 'omg/vae_nll', 'omg/vae_kl', 'omg/vae_gradient_norm', 'omg/histories', 'omg/steps'];
    const own = ['omg/loss', 'omg/nll', 'omg/kl', 'omg/gradient_norm', 'omg/explained_variance'];
    expect(rounds.map(({ metrics }) => metrics)).toEqual([vae, vae, ...Array(2).fill([...own, ...vae.slice(-2)])]);
    expect(rounds.map(({ changed }) => changed)).toEqual([['vae'], ['vae'], ['inference'], ['inference']]);
    omg.dispose();
  });

  it('learns where the others are heading: inferred subgoals come to explain the selected ones', async () => {
    const omg = await learnerOf({ horizon: 2 });
    const experience = await playOf(game, 1, 32, 100);
    const pretrained = await omg.pretrain(
      experience,
      { vaeSteps: 300, inferenceSteps: 240, values: elapsed(experience) },
      createGenerator(3),
    );
    const of = (key: string) => pretrained.flatMap((metrics) => metrics[key] ?? []);
    const [nll, kl, explained] = [of('omg/vae_nll'), of('omg/kl'), of('omg/explained_variance')];
    expect([nll.length, kl.length]).toEqual([75, 60]);
    expect(nll.at(-1)).toBeLessThan(0.8 * nll[0]);
    expect(kl.at(-1)).toBeLessThan(0.7 * kl[0]);
    expect(explained.at(-1)).toBeGreaterThan(0.3);
    expect(omg.isReady).toBe(true);
    omg.dispose();
  });

  it('infers while acting what it infers from the record, zeros for those who left', async () => {
    const omg = await learnerOf();
    const experience = await playOf(game, 3, 4, 20);
    const { envs, steps, agents, active } = experience;
    const inferred = await omg.inferOver(experience);
    expect(inferred.length).toBe(4 * 20 * 2 * 4);
    let zeros = 0;
    for (let row = 0; row < envs * steps; row++) {
      [2, 0].forEach((other, i) => {
        const subgoal = inferred.subarray((row * 2 + i) * 4, (row * 2 + i + 1) * 4);
        const isThere = active[row * agents.length + other] === 1;
        expect(subgoal.some((x) => x !== 0)).toBe(isThere);
        if (!isThere) zeros++;
      });
    }
    expect(zeros).toBeGreaterThan(0);
    omg.dispose();
  });

  it('starts anew with every episode: what was carried before does not matter', async () => {
    const omg = await learnerOf();
    const { observations, previousActions } = await playOf(game, 3, 2, 1);
    const own = Object.fromEntries(
      Object.entries(observations).map(([name, data]) => {
        const size = data.length / 6; // 2 environments, 3 seats; the observer's is 1
        const part = (env: number) => [...data.subarray((env * 3 + 1) * size, (env * 3 + 2) * size)];
        return [name, (data.constructor as typeof Float32Array).from([...part(0), ...part(1)])];
      }),
    );
    const view = { rows: 2, observations: own, previousActions, isFirst: Uint8Array.of(1, 0) };
    const noise = Float32Array.from({ length: 2 * omg.stateSize }, (_, i) => Math.sin(i));
    const fresh = await omg.infer(view, new Float32Array(2 * omg.stateSize));
    const carried = await omg.infer(view, noise);
    expect(carried.subgoals.slice(0, omg.subgoalSize)).toEqual(fresh.subgoals.slice(0, omg.subgoalSize));
    expect(carried.subgoals.slice(omg.subgoalSize)).not.toEqual(fresh.subgoals.slice(omg.subgoalSize));
    await expect(omg.infer(view, new Float32Array(3))).rejects.toThrow(
      /infer: state: expected Float32Array of 64 values/,
    );
    omg.dispose();
  });

  it('gives selected subgoals: latents of states that came later in the same episode', async () => {
    const omg = await learnerOf({ vaeUpdates: 0, horizon: 3 });
    const experience = withSubgoals(await playOf(game, 5, 3, 30), omg.subgoalSize);
    const options = { values: elapsed(experience), generator: createGenerator(1) };
    const { subgoals, replaced } = await omg.subgoalsOf(experience, { ...options, epsilon: 1 });
    const latents = await omg.latentsOf(experience);
    const { steps, active, ended } = experience;
    let checked = 0;
    for (let row = 0; row < replaced.length; row++) {
      const observer = active[row * 3 + 1] === 1;
      const others = [2, 0].filter((seat) => active[row * 3 + seat] === 1);
      expect(replaced[row]).toBe(observer && others.length > 0 ? 1 : 0);
      for (const [i, seat] of [2, 0].entries()) {
        const found = [...subgoals.subarray((row * 2 + i) * 4, (row * 2 + i + 1) * 4)];
        if (!observer || active[row * 3 + seat] === 0) {
          expect(found).toEqual(Array(4).fill(observer ? -1 : 0));
          continue;
        }
        // The highest value is that of the last state: at most 3 ahead, in the episode, while the co-player is there.
        let last = row;
        while (last < row + 3 && (last + 1) % steps !== 0 && ended[last] === 0 && active[(last + 1) * 3 + seat] === 1)
          last++;
        const wanted = latents.subarray((last * 2 + i) * 4, (last * 2 + i + 1) * 4);
        found.forEach((x, d) => {
          expect(x).toBeCloseTo(wanted[d], 5);
        });
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(50);
    const none = await omg.subgoalsOf(experience, { ...options, epsilon: 0 });
    expect(none.replaced.includes(1)).toBe(false);
    expect(none.subgoals.every((x) => x === -1 || x === 0)).toBe(true);
    const half = (await omg.subgoalsOf(experience, { ...options, epsilon: 0.5 })).replaced.filter(
      (x) => x === 1,
    ).length;
    const whole = replaced.filter((x) => x === 1).length;
    expect(Math.abs(half / whole - 0.5)).toBeLessThan(0.25);
    omg.dispose();
  });

  it('selects nothing while the VAE is still trained', async () => {
    const omg = await learnerOf();
    const experience = withSubgoals(await playOf(game, 5, 2, 10), omg.subgoalSize);
    const options = { values: elapsed(experience), epsilon: 1, generator: createGenerator(1) };
    expect((await omg.subgoalsOf(experience, options)).replaced.includes(1)).toBe(false);
    omg.dispose();
  });

  it('goes on from its state to the bit', { tags: ['slow'] }, async () => {
    const first = await learnerOf({ vaeUpdates: 1, selector: 'random' });
    const [a, b] = [await playOf(game, 1, 8, 20), await playOf(game, 2, 8, 20)];
    first.push(a);
    await first.update(createGenerator(5));
    await first.update(createGenerator(6));
    const second = await learnerOf({ vaeUpdates: 1, selector: 'random' });
    await second.restore(await first.state());
    const after = await Promise.all(
      [first, second].map(async (omg) => {
        omg.push(b);
        return [await omg.update(createGenerator(7)), await omg.state()];
      }),
    );
    expect(after[1]).toEqual(after[0]);
    for (const omg of [first, second]) omg.dispose();
  });

  it('without co-players has nothing to infer, and says so without NaN', async () => {
    const alone = stagHunt({ size: 2, agents: 1, stags: 0, hares: 1, maxSteps: 4 });
    const omg = createOmg({ game: alone, id: 'agent_0', ...small, vaeUpdates: 0 });
    await omg.initialise(createGenerator(1));
    const experience = await playOf(alone, 1, 2, 8);
    expect(omg.push(experience)).toBe(0);
    expect(await omg.update(createGenerator(1))).toEqual({ 'omg/histories': 0, 'omg/steps': 0 });
    expect([omg.subgoalSize, omg.stateSize, omg.isReady]).toEqual([0, 0, true]);
    expect((await omg.inferOver(experience)).length).toBe(0);
    const options = { values: elapsed(experience), epsilon: 1, generator: createGenerator(1) };
    expect(await omg.subgoalsOf(experience, options)).toEqual({
      subgoals: new Float32Array(0),
      replaced: new Uint8Array(16),
    });
    expect(await omg.pretrain(experience, { vaeSteps: 4 }, createGenerator(1))).toEqual([]);
    omg.dispose();
  });

  it("reads the observer's own view in games without grid parts", async () => {
    const dilemma = matrixGame({ kind: 'prisoners-dilemma', maxSteps: 5 });
    const omg = createOmg({ game: dilemma, id: dilemma.agents[1], ...small, vaeUpdates: 0, selector: 'fixed' });
    await omg.initialise(createGenerator(1));
    const experience = await playOf(dilemma, 1, 4, 10);
    expect(omg.push(experience)).toBe(8);
    const metrics = await omg.update(createGenerator(1));
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    expect((await omg.inferOver(experience)).some((x) => x !== 0)).toBe(true);
    omg.dispose();
  });

  it('says what is wrong with options and data', async () => {
    expect(() => createOmg({ game, id: 'agent_1', goalDim: 65 })).toThrow(/goalDim/);
    expect(() => createOmg({ game, id: 'nobody' })).toThrow(/an id of stag-hunt/);
    expect(() => createOmg({ game, id: 'agent_1', view: 'own', inputs: { mask: true } })).toThrow(/false for the view/);
    const omg = await learnerOf();
    const experience = await playOf(game, 1, 2, 6);
    expect(() => omg.push(experience)).toThrow(/values for the selector optimistic/);
    const imagined = { ...experience, isImagined: Uint8Array.of(0, 1) };
    expect(() => omg.push(imagined, elapsed(imagined))).toThrow(/real experience/);
    const other = await learnerOf({ goalDim: 8 });
    await expect(other.restore(await omg.state())).rejects.toThrow(/of shape \[32,16\]/);
    for (const one of [omg, other]) one.dispose();
  });
});
