import { createGenerator, type NamedArrays } from '@coplay/core';
import { type OmgNetOptions, selectSubgoals, stateVae, subgoalInference } from '@coplay/models/omg';
import { type TensorRecord, tf, useBackend, valueAndGradients } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { gaussianKl, gaussianSample, standardKl } from '../src/omg/gaussian';

beforeAll(async () => {
  await useBackend('cpu');
});

const tensorsOf = (arrays: NamedArrays): TensorRecord =>
  Object.fromEntries(Object.entries(arrays).map(([name, { data, shape }]) => [name, tf.tensor(data, [...shape])]));

const random = (seed: number, shape: number[], scale = 1) => {
  const generator = createGenerator(seed);
  const size = shape.reduce((product, n) => product * n, 1);
  return tf.tensor(
    Float32Array.from({ length: size }, () => scale * generator.normal()),
    shape,
  );
};

describe('divergence of normal distributions', () => {
  it('is the closed form, computed by hand', () => {
    const q = { mean: tf.tensor2d([[1, 0]]), logVar: tf.tensor2d([[0, Math.log(4)]]) };
    const p = { mean: tf.tensor2d([[0, 0]]), logVar: tf.tensor2d([[Math.log(2), 0]]) };
    // 1st: 1/2 (ln 2 + (1 + 1) / 2 - 1) = ln 2 / 2; 2nd: 1/2 (-ln 4 + 4 - 1) = 3/2 - ln 2.
    expect(gaussianKl(q, p).dataSync()[0]).toBeCloseTo(1.5 - Math.log(2) / 2, 5);
    // to N(0, 1). 1st: 1/2 (1 + 1 - 0 - 1) = 1/2; 2nd as above.
    expect(standardKl(q).dataSync()[0]).toBeCloseTo(2 - Math.log(2), 5);
    expect(gaussianKl(p, p).dataSync()[0]).toBeCloseTo(0, 6);
  });

  it('is the mean of the ratio of densities over samples', () => {
    const q = { mean: tf.tensor2d([[0.5, -1]]), logVar: tf.tensor2d([[-0.5, 0.3]]) };
    const p = { mean: tf.tensor2d([[-0.2, 0.4]]), logVar: tf.tensor2d([[0.2, -0.1]]) };
    const logDensity = ({ mean, logVar }: typeof q, x: tf.Tensor) =>
      tf.mul(-0.5, tf.sum(tf.add(logVar, tf.div(tf.square(tf.sub(x, mean)), tf.exp(logVar))), 1));
    const x = gaussianSample(q, random(1, [200_000, 2]) as tf.Tensor2D);
    const sampled = tf.mean(tf.sub(logDensity(q, x), logDensity(p, x))).dataSync()[0];
    expect(gaussianKl(q, p).dataSync()[0]).toBeCloseTo(sampled, 1.5);
  });
});

describe('selectors', () => {
  // Two episodes: steps 0..5, of which the agent was there in 0..4, and 6..8.
  const ends = [5, 5, 5, 5, 5, 6, 9, 9, 9];
  const values = [9, 1, 3, 2, 3, 99, 0, -1, 5];

  it('find what an exhaustive search finds', () => {
    const generator = createGenerator(3);
    for (const selector of ['optimistic', 'conservative'] as const) {
      const lengths = Array.from({ length: 40 }, () => 1 + generator.integer(7));
      let bound = 0;
      const bounds = lengths.map((length) => {
        bound += length;
        return bound;
      });
      const behind = lengths.flatMap((length, i) => new Array<number>(length).fill(bounds[i]));
      const drawn = behind.map(() => generator.integer(5)); // ties are frequent
      const chosen = selectSubgoals(selector, 3, { ends: behind, values: drawn });
      chosen.forEach((found, step) => {
        const candidates = [step + 1, step + 2, step + 3].filter((k) => k < behind[step]);
        const best = selector === 'optimistic' ? Math.max : Math.min;
        const wanted = candidates.find((k) => drawn[k] === best(...candidates.map((c) => drawn[c]))) ?? step;
        expect(found).toBe(wanted);
      });
    }
  });

  it('look no further than the end of the episode and the leaving of the agent', () => {
    expect([...selectSubgoals('optimistic', 10, { ends, values })]).toEqual([2, 2, 4, 4, 4, 5, 8, 8, 8]);
    expect([...selectSubgoals('conservative', 10, { ends, values })]).toEqual([1, 3, 3, 4, 4, 5, 7, 8, 8]);
    expect([...selectSubgoals('fixed', 2, { ends })]).toEqual([2, 3, 4, 4, 4, 5, 8, 8, 8]);
  });

  it('by chance take each of the next states', () => {
    const draws = ends.map(() => 0.999);
    expect([...selectSubgoals('random', 3, { ends, draws })]).toEqual([3, 4, 4, 4, 4, 5, 8, 8, 8]);
    expect([...selectSubgoals('random', 3, { ends, draws: draws.fill(0) })]).toEqual([1, 2, 3, 4, 4, 5, 7, 8, 8]);
  });

  it('pass over states without a value; the farthest where there is none', () => {
    const some = [NaN, NaN, 1, NaN, NaN, NaN, NaN, NaN, NaN];
    expect([...selectSubgoals('optimistic', 10, { ends, values: some })]).toEqual([2, 2, 4, 4, 4, 5, 8, 8, 8]);
  });

  it('say what they miss', () => {
    expect(() => selectSubgoals('optimistic', 3, { ends })).toThrow(/9 values for optimistic/);
    expect(() => selectSubgoals('fixed', 0, { ends })).toThrow(/horizon of at least 1/);
  });
});

const net: OmgNetOptions = {
  inputs: { planes: [2, 2, 2], vector: [3] },
  flags: 2,
  actions: 3,
  goalDim: 2,
  hidden: [5],
  stateUnits: 4,
  historyUnits: 3,
  occupiedWeight: 4,
};

/** Two sequences of three steps; the second holds the end of one episode and the start of another. */
function rowsOf() {
  const generator = createGenerator(5);
  const flags = (shape: number[]) =>
    tf.tensor(
      Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => generator.integer(2)),
      shape,
    );
  return {
    inputs: { planes: flags([6, 2, 2, 2]), vector: flags([6, 3]) } as TensorRecord,
    masks: tf.ones([6, 3]) as tf.Tensor2D,
    actions: tf.tensor1d([0, 1, 2, 2, 1, 0], 'int32'),
    isFirst: tf.tensor2d([1, 0, 0, 1, 0, 1], [2, 3]),
    state: tf.zeros([2, 3]) as tf.Tensor2D,
  };
}

/** Compares gradients with central differences for a few numbers of each parameter. */
function checkGradients(params: NamedArrays, lossOf: (params: TensorRecord) => tf.Scalar): void {
  const { gradients } = valueAndGradients((p) => ({ loss: lossOf(p) }), tensorsOf(params));
  for (const [name, { data, shape }] of Object.entries(params)) {
    const gradient = gradients[name].dataSync();
    for (let i = 0; i < data.length; i += Math.ceil(data.length / 3)) {
      const at = (shift: number) => {
        const moved = { data: Float32Array.from(data), shape };
        moved.data[i] += shift;
        return lossOf(tensorsOf({ ...params, [name]: moved })).dataSync()[0];
      };
      const difference = (at(1e-3) - at(-1e-3)) / 2e-3;
      expect(Math.abs(difference - gradient[i]), `${name}[${i}]`).toBeLessThan(0.02 + 0.03 * Math.abs(difference));
    }
  }
}

/** Parameters of which none is 0, so that every gradient matters and no ReLU sits at its corner. */
function shaken(params: NamedArrays): NamedArrays {
  const generator = createGenerator(7);
  return Object.fromEntries(
    Object.entries(params).map(([name, { data, shape }]) => [
      name,
      { data: Float32Array.from(data, (x) => x + 0.3 * generator.normal()), shape },
    ]),
  );
}

describe.each(['reconstruction', 'action'] as const)('the loss %s', (loss) => {
  const options = { ...net, loss };

  it('of the state VAE has the gradients of its differences', () => {
    const vae = stateVae(options);
    const [noise, weights] = [random(2, [6, 2]) as tf.Tensor2D, tf.tensor1d([1, 1, 0.5, 0, 1, 1])];
    checkGradients(shaken(vae.init(createGenerator(1))), (params) => vae.loss(params, rowsOf(), noise, weights).loss);
  });

  it('of the inference has the gradients of its differences', () => {
    const inference = subgoalInference(options);
    const targets = {
      prior: { mean: random(4, [6, 2]) as tf.Tensor2D, logVar: random(5, [6, 2], 0.3) as tf.Tensor2D },
      noise: random(6, [6, 2]) as tf.Tensor2D,
      weights: tf.tensor1d([1, 1, 1, 0, 1, 1]),
    };
    checkGradients(
      shaken(inference.init(createGenerator(1))),
      (params) => inference.loss(params, rowsOf(), targets).loss,
    );
  });
});

describe('the state VAE', () => {
  it('has the reconstruction that is computed by hand', () => {
    const vae = stateVae({ ...net, hidden: [] });
    const params = vae.init(createGenerator(1));
    for (const { data } of Object.values(params)) data.fill(0); // all logits and means are 0
    const rows = rowsOf();
    const { metrics } = vae.loss(tensorsOf(params), rows, tf.zeros([6, 2]), tf.tensor1d([1, 0, 0, 0, 0, 0]));
    const cells = [...rows.inputs['planes'].dataSync().slice(0, 8), ...rows.inputs['vector'].dataSync().slice(1, 3)];
    const time = rows.inputs['vector'].dataSync()[0];
    const expected = cells.reduce((sum, cell) => sum + (cell === 1 ? 4 : 1) * Math.log(2), 0) + time ** 2 / 2;
    expect(metrics?.['nll'].dataSync()[0]).toBeCloseTo(expected, 4);
    expect(metrics?.['kl'].dataSync()[0]).toBeCloseTo(0, 6); // mean 0, variance 1
  });

  it('reconstructs one-hot codes by the cross-entropy over their classes', () => {
    const kinds = { board: { kind: 'codes', classes: 4 }, card: { kind: 'codes', classes: 3 } } as const;
    const inputs = { board: [1, 1, 8], card: [3], vector: [1] };
    const vae = stateVae({ ...net, inputs, kinds, flags: 0, hidden: [] });
    const params = vae.init(createGenerator(1));
    for (const { data } of Object.values(params)) data.fill(0); // all logits and means are 0
    params['decoder/0/bias'].data.set([Math.log(5), 0, 0, 0], 0); // the first code: chances 5/8, 1/8, 1/8, 1/8
    const seen = {
      board: tf.tensor4d([0, 1, 0, 0, 1, 0, 0, 0], [1, 1, 1, 8]),
      card: tf.tensor2d([[0, 0, 1]]),
      vector: tf.tensor2d([[2]]),
    };
    const rows = { ...rowsOf(), inputs: seen };
    const { metrics } = vae.loss(tensorsOf(params), rows, tf.zeros([1, 2]), tf.ones([1]));
    const expected = Math.log(8) + Math.log(4) + Math.log(3) + 2 ** 2 / 2;
    expect(metrics?.['nll'].dataSync()[0]).toBeCloseTo(expected, 4);
  });

  it('tells actions by chance where the head says nothing', () => {
    const vae = stateVae({ ...net, loss: 'action' });
    const params = vae.init(createGenerator(1));
    for (const { data } of Object.values(params)) data.fill(0);
    const rows = rowsOf();
    const { metrics } = vae.loss(tensorsOf(params), rows, tf.zeros([6, 2]), tf.ones([6]));
    expect(metrics?.['nll'].dataSync()[0]).toBeCloseTo(Math.log(3), 5);
  });
});

describe('the inference', () => {
  const inference = subgoalInference(net);
  const params = () => tensorsOf(shaken(inference.init(createGenerator(2))));
  const means = (rows: ReturnType<typeof rowsOf>) => inference.posterior(params(), rows).mean.arraySync();

  it('at step t has seen s_0..s_t of its own episode alone', () => {
    const before = means(rowsOf());
    const seenBy = (changed: number) => {
      const rows = rowsOf();
      const planes = rows.inputs['planes'].dataSync().slice();
      for (let i = changed * 8; i < changed * 8 + 8; i++) planes[i] = 1 - planes[i];
      const after = means({ ...rows, inputs: { ...rows.inputs, planes: tf.tensor(planes, [6, 2, 2, 2]) } });
      return after.flatMap((row, i) => (row.some((x, d) => Math.abs(x - before[i][d]) > 1e-6) ? [i] : []));
    };
    expect([0, 1, 2, 3, 4, 5].map(seenBy)).toEqual([[0, 1, 2], [1, 2], [2], [3, 4], [4], [5]]);
  });

  it('says the same step by step', () => {
    const rows = rowsOf();
    const expected = means(rows);
    let state = tf.zeros([2, 3]) as tf.Tensor2D;
    for (let t = 0; t < 3; t++) {
      const at = (x: tf.Tensor) => tf.gather(x, [t, 3 + t]);
      const inputs = { planes: at(rows.inputs['planes']), vector: at(rows.inputs['vector']) };
      const isFirst = tf.slice(rows.isFirst, [0, t], [2, 1]);
      const { posterior, next } = inference.step(params(), inputs, tf.mul(state, tf.sub(1, isFirst)));
      state = next;
      posterior.mean.arraySync().forEach((row, i) => {
        row.forEach((x, d) => {
          expect(x).toBeCloseTo(expected[3 * i + t][d], 5);
        });
      });
    }
  });

  it('pays KL(q || p) of its posterior q to the prior p of the selected states, in that direction', () => {
    const prior = { mean: random(5, [6, 2]) as tf.Tensor2D, logVar: random(6, [6, 2]) as tf.Tensor2D };
    const weights = tf.tensor1d([1, 0.5, 1, 0, 1, 1]);
    const noise = random(7, [6, 2]) as tf.Tensor2D;
    const halved = subgoalInference({ ...net, klWeight: 0.5 });
    const { loss, metrics } = halved.loss(params(), rowsOf(), { prior, noise, weights });
    const q = inference.posterior(params(), rowsOf());
    const [mq, vq, mp, vp] = [q.mean, tf.exp(q.logVar), prior.mean, tf.exp(prior.logVar)].map((x) => x.arraySync());
    // 1/2 sum_d (ln(vp / vq) + (vq + (mq - mp)^2) / vp - 1), averaged by the weights.
    const divergences = (vq as number[][]).map((row, n) =>
      row.reduce((sum, v, d) => {
        const [m, to, variance] = [(mq as number[][])[n][d], (mp as number[][])[n][d], (vp as number[][])[n][d]];
        return sum + 0.5 * (Math.log(variance / v) + (v + (m - to) ** 2) / variance - 1);
      }, 0),
    );
    const w = weights.dataSync();
    const kl = divergences.reduce((sum, x, n) => sum + x * w[n], 0) / 4.5;
    expect(metrics?.['kl'].dataSync()[0]).toBeCloseTo(kl, 4);
    expect(loss.dataSync()[0]).toBeCloseTo((metrics?.['nll'].dataSync()[0] ?? Number.NaN) + 0.5 * kl, 4);
  });

  it('explains s_t by the history before it: the state itself reaches the decoder through the latent alone', () => {
    const all = params();
    const silent = { ...all, 'posterior/kernel': tf.zerosLike(all['posterior/kernel']) }; // a latent that knows nothing
    const prior = { mean: tf.zeros([6, 2]) as tf.Tensor2D, logVar: tf.zeros([6, 2]) as tf.Tensor2D };
    const weights = tf.tensor1d([0, 1, 0, 0, 0, 0]);
    const nllOf = (cells: number[]) => {
      const rows = rowsOf();
      const planes = rows.inputs['planes'].dataSync().slice();
      planes.set(cells, 8);
      const inputs = { ...rows.inputs, planes: tf.tensor(planes, [6, 2, 2, 2]) };
      const { metrics } = inference.loss(silent, { ...rows, inputs }, { prior, noise: tf.zeros([6, 2]), weights });
      return metrics?.['nll'].dataSync()[0] ?? Number.NaN;
    };
    // Of outputs that don't depend on the state, the errors of a state and of its opposite add up to one and the same
    // sum.
    const bothWays = (cells: number[]) => nllOf(cells) + nllOf(cells.map((cell) => 1 - cell));
    expect(bothWays([1, 0, 1, 0, 0, 1, 1, 0])).toBeCloseTo(bothWays([0, 0, 0, 0, 0, 0, 0, 1]), 3);
    expect(nllOf([1, 0, 1, 0, 0, 1, 1, 0])).not.toBeCloseTo(nllOf([0, 0, 0, 0, 0, 0, 0, 1]), 2);
  });
});
