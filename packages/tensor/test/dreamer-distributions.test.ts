import { type TensorRecord, tf } from '@coplay/tensor';
import {
  bernoulliLoss,
  boundedNormal,
  categoricalEntropy,
  codesLoss,
  latentLosses,
  mirrorBins,
  normalEntropy,
  normalLogProb,
  normalSample,
  oneHotSample,
  straightThrough,
  symexp,
  symlog,
  twoHotBins,
  twoHotLoss,
  twoHotMean,
  twoHotWeights,
  unimix,
  unimixLog,
} from '@coplay/tensor/distributions';
import { describe, expect, it } from 'vitest';
import { floats } from './compiled';
import { differences, onMachine } from './on-machine';
import { loadableMachines } from './optimise-run';

// Golden numbers are those of DreamerV3's published modules, run once in float32, unless a line says how they come
// about.

const bins255 = twoHotBins(255);
const WAVE = Array.from({ length: 255 }, (_, i) => 2 * Math.sin(0.1 * i));
const P = [2, 0, -1, 0.5, 0, 0, 0, 0]; // two latents of four classes
const Q = [0, 1, 0, -1, 3, 0, 0, 0];

describe('twoHotBins', () => {
  it("are DreamerV3's", () => {
    expect(differences([...bins255.slice(0, 3)], [-485165184, -414473568, -354082176], 1e-6)).toEqual([]);
    const centre = [0, 0.1705576, 0.3702051, 0.6039041, 0.8774621, 1.197678, 1.572508, 2.011269];
    expect(differences([...bins255.slice(127, 135)], centre, 1e-6)).toEqual([]);
    expect(differences([...twoHotBins(5)], [-485165184, -22025.4648, 0, 22025.4648, 485165184], 1e-6)).toEqual([]);
  });

  it('are exactly antisymmetric, with two zeros for an even count', () => {
    for (const count of [2, 5, 6, 41, 255]) {
      const bins = [...twoHotBins(count)];
      expect(bins.map((x) => 0 - x).reverse()).toEqual(bins);
      expect([...bins].sort((a, b) => a - b)).toEqual(bins);
    }
    expect([...twoHotBins(6)].filter((x) => x === 0).length).toBe(2);
    expect(() => twoHotBins(1)).toThrow(/twoHotBins: .*count.*2.*got 1/);
  });
});

describe.each(await loadableMachines())("DreamerV3's distributions on $label", (machine) => {
  const run = (f: (x: TensorRecord) => TensorRecord, inputs: Parameters<typeof onMachine>[2]) =>
    onMachine(machine, f, inputs);

  it('symlog and symexp', async () => {
    const x = [0.5, 1, 10, 1000, -1000, 0, 0.01];
    const { y, back, up } = await run(
      ({ x, small }) => ({ y: symlog(x), back: symexp(symlog(x)), up: symexp(small) }),
      {
        x: floats(x),
        small: floats([0.5, 1, 5, 20, -20]),
      },
    );
    expect(differences(y, [0.4054651, Math.LN2, 2.397895, 6.908755, -6.908755, 0, 0.00995033], 1e-5)).toEqual([]);
    expect(differences(back, x, 1e-5)).toEqual([]);
    expect(differences(up, [0.6487213, 1.718282, 147.4132, 4.851652e8, -4.851652e8], 1e-6)).toEqual([]);
  });

  it('two-hot weights lie on the two nearest bins', async () => {
    const cases: [number, [number, number][]][] = [
      [
        0.1,
        [
          [127, 0.41369],
          [128, 0.58631],
        ],
      ],
      [
        0.5,
        [
          [129, 0.44461],
          [130, 0.55539],
        ],
      ],
      [
        1,
        [
          [131, 0.61733],
          [132, 0.38267],
        ],
      ],
      [
        -1,
        [
          [122, 0.38267],
          [123, 0.61733],
        ],
      ],
      [
        2.5,
        [
          [134, 0.04842],
          [135, 0.95158],
        ],
      ],
      [
        10,
        [
          [142, 0.78696],
          [143, 0.21304],
        ],
      ],
      [
        100,
        [
          [156, 0.71053],
          [157, 0.28947],
        ],
      ],
      [1e9, [[254, 1]]],
      [-1e9, [[0, 1]]],
      [0, [[127, 1]]],
      [bins255[200], [[200, 1]]],
    ];
    const { w } = await run(({ x }) => ({ w: twoHotWeights(x, bins255) }), { x: floats(cases.map(([x]) => x)) });
    cases.forEach(([x, expected], row) => {
      const weights = w.slice(row * 255, (row + 1) * 255);
      const dense = weights.map((_, i) => expected.find(([at]) => at === i)?.[1] ?? 0);
      expect(
        weights.flatMap((value, i) => (Math.abs(value - dense[i]) < 2e-5 ? [] : [`${x}: bin ${i}: ${value}`])),
      ).toEqual([]);
      expect(weights.filter((value) => value !== 0).length).toBe(expected.length);
    });
  });

  it('of an even count of bins, one of the two at 0 counts', async () => {
    const { w } = await run(({ x }) => ({ w: twoHotWeights(x, twoHotBins(4)) }), { x: floats([0, 1e8, -1e8]) });
    const share = 1e8 / Math.expm1(20);
    expect(differences(w, [0, 0, 1, 0, 0, 0, 1 - share, share, share, 1 - share, 0, 0], 1e-5)).toEqual([]);
  });

  it('the mean of equal logits is exactly 0, and others are as published', async () => {
    const { zero, wave, five, symmetric } = await run(
      ({ equal, wave, five, symmetric }) => ({
        zero: twoHotMean(equal, bins255),
        wave: twoHotMean(wave, bins255),
        five: twoHotMean(five, twoHotBins(5)),
        symmetric: twoHotMean(symmetric, bins255),
      }),
      {
        equal: floats([...Array(255).fill(0), ...Array(255).fill(-3.7)], [2, 255]),
        wave: floats(WAVE, [1, 255]),
        five: floats([0, 1, -1, 2, -2], [1, 5]),
        symmetric: floats(
          Array.from({ length: 255 }, (_, i) => Math.cos((i - 127) / 20)),
          [1, 255],
        ),
      },
    );
    expect([...zero, ...symmetric].map((x) => x + 0)).toEqual([0, 0, 0]);
    expect(differences([...wave, ...five], [-1.1653e7, -36122512], 1e-4)).toEqual([]);
  });

  it('two-hot losses are as published; their gradient is p - w', async () => {
    const middle = (twoHotBins(5)[1] + twoHotBins(5)[2]) / 2;
    const { wave, five, even, gradient } = await run(
      ({ wave, five, equal, x }) => ({
        wave: twoHotLoss(wave, x, bins255),
        five: twoHotLoss(five, tf.tensor1d([middle]), twoHotBins(5)),
        even: twoHotLoss(equal, tf.tensor1d([3]), bins255),
        gradient: tf.grad((logits: tf.Tensor) => tf.sum(twoHotLoss(logits, tf.tensor1d([middle]), twoHotBins(5))))(
          five,
        ),
      }),
      {
        wave: floats(WAVE, [1, 255]),
        five: floats([0, 1, -1, 2, -2], [1, 5]),
        equal: floats(Array(255).fill(0), [1, 255]),
        x: floats([1.5]),
      },
    );
    expect(differences([...wave, ...five, ...even], [5.050083, 2.4519143, 5.541264], 1e-4)).toEqual([]);
    const exp = [0, 1, -1, 2, -2].map(Math.exp);
    const sum = exp.reduce((a, b) => a + b);
    expect(
      differences(
        gradient,
        exp.map((e, i) => e / sum - (i === 1 || i === 2 ? 0.5 : 0)),
        1e-4,
      ),
    ).toEqual([]);
  });

  it('bins with their lower half turned round have the same means, losses and gradients', async () => {
    expect([...mirrorBins(Float32Array.of(0, 1, 2, 3, 4))]).toEqual([1, 0, 2, 3, 4]);
    expect([...mirrorBins(Float32Array.of(0, 1, 2, 3))]).toEqual([1, 0, 2, 3]);
    const mirrored = mirrorBins(bins255);
    const place = (i: number) => (i < 127 ? 126 - i : i); // of bin i
    const turned = Array.from({ length: 255 }, (_, i) => WAVE[place(i)]);
    const { order, mean, symmetric, loss, plain, gradient, ofPlain } = await run(
      ({ turned, wave, symmetric, x }) => ({
        order: mirrorBins(tf.tensor2d([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 5])),
        mean: twoHotMean(turned, mirrored),
        symmetric: twoHotMean(symmetric, mirrored),
        loss: twoHotLoss(turned, x, mirrored),
        plain: twoHotLoss(wave, x, bins255),
        gradient: tf.grad((y: tf.Tensor) => tf.sum(twoHotLoss(y, x, mirrored)))(turned),
        ofPlain: tf.grad((y: tf.Tensor) => tf.sum(twoHotLoss(y, x, bins255)))(wave),
      }),
      {
        turned: floats([...turned, ...turned, ...turned], [3, 255]),
        wave: floats([...WAVE, ...WAVE, ...WAVE], [3, 255]),
        symmetric: floats(
          Array.from({ length: 255 }, (_, i) => Math.cos((place(i) - 127) / 20)),
          [1, 255],
        ),
        x: floats([1.5, -0.2, -1e9]),
      },
    );
    expect(order).toEqual([1, 0, 2, 3, 4, 6, 5, 7, 8, 9]);
    expect(symmetric[0] + 0).toBe(0);
    expect(differences([mean[0], loss[0]], [-1.1653e7, 5.050083], 1e-4)).toEqual([]); // as published
    expect(differences(loss, plain, 1e-6)).toEqual([]);
    expect(
      differences(
        gradient.map((_, i) => gradient[255 * Math.floor(i / 255) + place(i % 255)]),
        ofPlain,
        1e-5,
      ),
    ).toEqual([]);
  });

  it('a target that is no number shows in the loss', async () => {
    const { loss } = await run(({ x, a }) => ({ loss: twoHotLoss(x, a, bins255) }), {
      x: floats(new Array(2 * 255).fill(0), [2, 255]),
      a: floats([Number.NaN, 1]),
    });
    expect(loss[0]).toBeNaN();
    expect(loss[1]).toBeCloseTo(Math.log(255), 5);
  });

  it('several targets count with their weights, also where they share bins; loss and gradient as with the dense weights', async () => {
    // Rows: apart, in one bin, in neighbouring bins, beyond both ends, on a bin, next to 0.
    const first = [1.5, 0.2, 0.2, 1e9, bins255[200], 0];
    const second = [-70, 0.25, 0.3, -1e9, bins255[200], -1e-6];
    const logits = floats(
      Array.from({ length: 6 * 255 }, (_, i) => 3 * Math.sin(0.7 * i)),
      [6, 255],
    );
    const { sparse, dense, ofSparse, ofDense } = await run(
      ({ x, a, b, dy }) => {
        const targets = [
          { values: a, weight: 1 },
          { values: b, weight: 0.5 },
        ];
        const spelled = (y: tf.Tensor) => {
          const weights = tf.add(twoHotWeights(a, bins255), tf.mul(twoHotWeights(b, bins255), 0.5));
          return tf.neg(tf.sum(tf.mul(weights, tf.logSoftmax(y)), -1));
        };
        const joint = (y: tf.Tensor) => twoHotLoss(y, targets, bins255);
        return {
          sparse: joint(x),
          dense: spelled(x),
          ofSparse: tf.grad(joint)(x, dy),
          ofDense: tf.grad(spelled)(x, dy),
        };
      },
      { x: logits, a: floats(first), b: floats(second), dy: floats([1, -2, 0.5, 3, 1, 0.1]) },
    );
    expect(differences(sparse, [...dense], 1e-4)).toEqual([]);
    expect(Math.max(...ofSparse.map((entry, i) => Math.abs(entry - ofDense[i])))).toBeLessThan(5e-5);
  });

  it('no gradient flows into the target of a two-hot loss', async () => {
    const { gradient } = await run(
      ({ x, logits }) => ({
        gradient: tf.grad((y: tf.Tensor) => tf.sum(tf.add(tf.mul(y, 0), twoHotLoss(logits, y, bins255))))(x),
      }),
      { x: floats([1.5]), logits: floats(WAVE, [1, 255]) },
    );
    expect(gradient.map(Math.abs)).toEqual([0]);
  });

  it('unimix keeps a share for every class', async () => {
    const { p, plain, logs } = await run(
      ({ a }) => ({ p: unimix(a, 0.01), plain: tf.exp(unimixLog(a, 0)), logs: tf.exp(unimixLog(a, 0.01)) }),
      { a: floats([2, 0, -1, 0.5, 3, 0, 0, 0], [2, 4]) },
    );
    const expected = [0.7054989, 0.0976406, 0.0375003, 0.1593603, 0.863848, 0.045384, 0.045384, 0.045384];
    expect(differences(p, expected, 1e-5)).toEqual([]);
    expect(differences(logs, expected, 1e-5)).toEqual([]);
    const e3 = Math.exp(3);
    expect(
      differences(
        plain.slice(4),
        [e3, 1, 1, 1].map((e) => e / (e3 + 3)),
        1e-5,
      ),
    ).toEqual([]);
  });

  it('divergences are summed over latents and then held at the free nats', async () => {
    const shape = [1, 2, 4];
    const { kl, reverse, plain, entropies } = await run(
      ({ p, q }) => ({
        kl: latentLosses(unimixLog(p, 0.01), unimixLog(q, 0.01), 0).dynamics,
        reverse: latentLosses(unimixLog(q, 0.01), unimixLog(p, 0.01), 0).dynamics,
        plain: latentLosses(unimixLog(p, 0), unimixLog(q, 0), 0).dynamics,
        entropies: tf.stack([p, q].map((x) => tf.sum(categoricalEntropy(unimixLog(x, 0.01), tf.onesLike(x))))),
      }),
      { p: floats(P, shape), q: floats(Q, shape) },
    );
    expect(differences([...kl, ...reverse, ...plain], [1.7635458, 1.758743, 1.8134973])).toEqual([]);
    expect(differences(entropies, [2.2753725, 1.7164911])).toEqual([]);
    // Each of the two latents lies below 1 nat, their sum above: the sum counts.
    const { held } = await run(
      ({ p, q }) => ({ held: latentLosses(unimixLog(p, 0.01), unimixLog(q, 0.01), 1).dynamics }),
      {
        p: floats([...P, ...P], [2, 2, 4]),
        q: floats([...Q, ...P], [2, 2, 4]),
      },
    );
    expect(differences(held, [1.7635458, 1])).toEqual([]);
  });

  it('dynamics teach the prior alone, representations the posterior alone, and free nats nobody', async () => {
    const { dynQ, dynP, repP, repQ, free } = await run(
      ({ p, q }) => {
        const of = (name: 'dynamics' | 'representation', freeNats: number) => (x: tf.Tensor, y: tf.Tensor) =>
          tf.sum(latentLosses(unimixLog(x, 0.01), unimixLog(y, 0.01), freeNats)[name]);
        // Both sides depend on both arguments, so that a missing stop shows as another gradient.
        const touched = (f: (x: tf.Tensor, y: tf.Tensor) => tf.Tensor) => (x: tf.Tensor, y: tf.Tensor) =>
          tf.add(f(x, y), tf.mul(tf.add(tf.sum(x), tf.sum(y)), 0));
        const [dynP, dynQ] = tf.grads(touched(of('dynamics', 1)))([p, q]);
        const [repP, repQ] = tf.grads(touched(of('representation', 1)))([p, q]);
        const free = tf.grads((x: tf.Tensor, y: tf.Tensor) =>
          tf.add(of('dynamics', 2)(x, y), of('representation', 2)(x, y)),
        )([p, q]);
        return { dynP, dynQ, repP, repQ, free: tf.stack(free) };
      },
      { p: floats(P, [1, 2, 4]), q: floats(Q, [1, 2, 4]) },
    );
    expect(differences(dynQ.slice(0, 4), [-0.5029403, 0.4291111, 0.1565874, -0.0827582])).toEqual([]);
    expect(differences(repP.slice(0, 4), [0.3302846, -0.2378268, -0.0862663, -0.0061914], 1e-3)).toEqual([]);
    expect([...dynP, ...repQ, ...free].map(Math.abs)).toEqual(Array(32).fill(0));
  });

  it('a divergence is bounded, however far logits go', async () => {
    const limits = [
      [4, 5.924097],
      [16, 7.294663],
      [32, 7.980561],
      [64, 8.666612],
    ];
    for (const [classes, limit] of limits) {
      const [p, q] = [0, 1].map((hot) => Array.from({ length: classes }, (_, i) => (i === hot ? 1e4 : 0)));
      const { kl } = await run(
        ({ p, q }) => ({ kl: latentLosses(unimixLog(p, 0.01), unimixLog(q, 0.01), 0).dynamics }),
        {
          p: floats(p, [1, 1, classes]),
          q: floats(q, [1, 1, classes]),
        },
      );
      expect(differences(kl, [limit])).toEqual([]);
    }
  });

  it('samples invert the cumulative distribution', async () => {
    const noise = [0, 0.0999, 0.1001, 0.2999, 0.3001, 0.9999999];
    const { z } = await run(({ p, u }) => ({ z: oneHotSample(tf.tile(p, [6, 1]), u) }), {
      p: floats([0.1, 0.2, 0, 0.7], [1, 4]),
      u: floats(noise),
    });
    expect([0, 1, 2, 3, 4, 5].map((row) => z.slice(4 * row, 4 * row + 4).indexOf(1))).toEqual([0, 0, 1, 1, 3, 3]);
    expect(z.reduce((a, b) => a + b)).toBe(6);
    expect(z.every((x) => x === 0 || x === 1)).toBe(true);
  });

  it('straight-through: the value of the sample, the gradient of the probabilities', async () => {
    const { z, gradient, none } = await run(
      ({ logits, u, w }) => {
        const score = (sampler: typeof straightThrough) => (x: tf.Tensor) =>
          tf.sum(tf.add(tf.mul(w, sampler(unimix(x, 0.01), u)), tf.mul(x, 0)));
        return {
          z: straightThrough(unimix(logits, 0.01), u),
          gradient: tf.grad(score(straightThrough))(logits),
          none: tf.grad(score(oneHotSample))(logits),
        };
      },
      { logits: floats([2, 0, -1, 0.5], [1, 4]), u: floats([0.75]), w: floats([1, 2, 3, 4], [1, 4]) },
    );
    expect(z).toEqual([0, 1, 0, 0]); // 0.7054989 <= 0.75 < 0.7054989 + 0.0976406
    expect(differences(gradient, [-0.451426, 0.0340467, 0.0475253, 0.369854])).toEqual([]);
    expect(none.map(Math.abs)).toEqual([0, 0, 0, 0]);
  });

  it('Bernoulli losses with soft labels', async () => {
    const { loss } = await run(({ l, y }) => ({ loss: bernoulliLoss(l, y) }), {
      l: floats([2, 2, 1e4, -1e4, Math.log((1 - 1 / 333) * 333)]),
      y: floats([0.996997, 0, 1, 1, 1 - 1 / 333]),
    });
    // The last one is the least that is possible with the label 1 - 1/333: its entropy.
    expect(differences(loss, [0.132934, 2.1269281, 0, 1e4, 0.0204403], 1e-4)).toEqual([]);
  });

  it('losses of codes behind one another: categorical, and never below 0', async () => {
    const l = [Math.log(2), 0, 0, 1e4, 0, -1e4, 3, 3, 3];
    const { loss, far } = await run(({ l, y, z }) => ({ loss: codesLoss(l, y, 3), far: codesLoss(l, z, 3) }), {
      l: floats([...l, ...l], [2, 9]),
      y: floats([1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1], [2, 9]),
      z: floats([...new Array(9).fill(0), 0, 0, 0, 0, 0, 1, 0, 0, 0], [2, 9]),
    });
    // Chances 1/2, 1/4, 1/4; 1, 0, 0; 1/3 each. A code of zeros counts nothing.
    expect(differences(loss, [Math.log(2), Math.log(4) + Math.log(3)], 1e-5)).toEqual([]);
    expect(differences(far, [0, 2e4], 1e-5)).toEqual([]);
  });

  it('bounded normal: by its formulas', async () => {
    const s = (x: number) => 1 / (1 + Math.exp(-x));
    const [mean, stddev] = [Math.tanh(0.3), 0.9 * s(-0.5 + 2) + 0.1];
    const [mean2, stddev2] = [Math.tanh(-1), 0.9 * s(2) + 0.1];
    const { m, x, logProb, entropy } = await run(
      ({ a, b, noise, at }) => {
        const normal = boundedNormal(a, b);
        return {
          m: normal.mean,
          x: normalSample(normal, noise),
          logProb: normalLogProb(normal, at),
          entropy: normalEntropy(normal),
        };
      },
      {
        a: floats([0.3, -1], [1, 2]),
        b: floats([-0.5, 0], [1, 2]),
        noise: floats([1, -2], [1, 2]),
        at: floats([0.2, 0.1], [1, 2]),
      },
    );
    const density = (y: number, mu: number, sigma: number) =>
      Math.exp(-(((y - mu) / sigma) ** 2) / 2) / (sigma * Math.sqrt(2 * Math.PI));
    expect(differences(m, [mean, mean2], 1e-5)).toEqual([]);
    expect(differences(x, [mean + stddev, mean2 - 2 * stddev2], 1e-5)).toEqual([]);
    expect(
      differences(logProb, [Math.log(density(0.2, mean, stddev)) + Math.log(density(0.1, mean2, stddev2))], 1e-5),
    ).toEqual([]);
    expect(differences(entropy, [Math.log(stddev * stddev2) + Math.log(2 * Math.PI * Math.E)], 1e-5)).toEqual([]);
  });
});

describe('refusals', () => {
  it('name what does not fit', () => {
    expect(() => twoHotMean(tf.zeros([2, 5]), bins255)).toThrow(/twoHotMean: expected logits \[..., 255\]/);
    expect(() => twoHotLoss(tf.zeros([2, 5]), tf.zeros([2, 1]), twoHotBins(5))).toThrow(
      /targets of shape \[2\], got \[2,1\]/,
    );
    expect(() => straightThrough(tf.zeros([2, 3, 4]), tf.zeros([2, 4]))).toThrow(/noise of shape \[2,3\], got \[2,4\]/);
    expect(() => latentLosses(tf.zeros([2, 4]), tf.zeros([4]), 1)).toThrow(/latentLosses: expected both/);
    expect(() => bernoulliLoss(tf.zeros([2]), tf.zeros([2, 1]))).toThrow(/bernoulliLoss: expected targets/);
    expect(() => codesLoss(tf.zeros([2, 4]), tf.zeros([2, 4]), 3)).toThrow(/codesLoss: expected logits \[N, n 3\]/);
    expect(() => codesLoss(tf.zeros([2, 4]), tf.zeros([1, 4]), 2)).toThrow(/codesLoss: expected targets/);
  });
});
