import { type CoPlayerModel, coPlayerModel, dreamerNets } from '@coplay/models/dreamer';
import { tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('cpu');
});

const M = 2;
const K = 3;
const model = coPlayerModel({ featureSize: 4, units: 5, layers: 1, count: M, actions: K });
const log = (rows: number[][][]) => tf.log(tf.tensor3d(rows)) as tf.Tensor3D;

describe('the codes of co-players', () => {
  it('stand side by side, zeros for who did nothing', () => {
    const codes = model.code(
      tf.tensor2d(
        [
          [2, 0],
          [-1, 1],
        ],
        [2, 2],
        'int32',
      ),
    );
    expect(codes.arraySync()).toEqual([
      [0, 0, 1, 1, 0, 0],
      [0, 0, 0, 0, 1, 0],
    ]);
  });
});

describe('rows of another number of co-players', () => {
  it('are refused by name', () => {
    const [pair, triple] = [tf.zeros([4, 2]) as tf.Tensor2D, tf.zeros([4, 3]) as tf.Tensor2D];
    const logProbs = tf.zeros([4, M, K + 1]) as tf.Tensor3D;
    expect(() => model.code(triple)).toThrow(
      /coPlayerModel.code: actions: expected the shape \[..., 2\], got \[4, 3\]/,
    );
    expect(() => model.sample(logProbs, triple, pair)).toThrow(
      /sample: expected active of shape \[4, 2\], got \[4, 3\]/,
    );
    expect(() => model.sample(logProbs, pair, triple)).toThrow(
      /sample: expected noise of shape \[4, 2\], got \[4, 3\]/,
    );
    const recorded = { actions: tf.zeros([2, 2, 3]), active: tf.ones([2, 2, 2]), isFirst: tf.zeros([2, 2]) } as never;
    expect(() => model.loss(tf.zeros([2, 2, M, K + 1]), recorded)).toThrow(
      /loss: expected actions of shape \[2, 2, 2\], got \[2, 2, 3\]/,
    );
  });
});

describe('what co-players are imagined to do', () => {
  const logProbs = () =>
    log([
      [
        [0.1, 0.2, 0.3, 0.4],
        [0.7, 0.1, 0.1, 0.1],
      ],
    ]);
  const draw = (a: number, b: number, active = [1, 1]) => {
    const step = model.sample(logProbs(), tf.tensor2d([active]), tf.tensor2d([[a, b]]));
    return { codes: [...step.codes.dataSync()], active: [...step.active.dataSync()] };
  };

  it('is drawn by inverting the distribution of each; the last index is having left', () => {
    expect(draw(0.05, 0.75)).toEqual({ codes: [1, 0, 0, 0, 1, 0], active: [1, 1] });
    expect(draw(0.5, 0.85)).toEqual({ codes: [0, 0, 1, 0, 0, 1], active: [1, 1] });
    expect(draw(0.7, 0.1)).toEqual({ codes: [0, 0, 0, 1, 0, 0], active: [0, 1] });
  });

  it('is zero for a co-player that left before, for any draw', () => {
    expect(draw(0.05, 0.75, [0, 1])).toEqual({ codes: [0, 0, 0, 0, 1, 0], active: [0, 1] });
  });
});

describe('the loss', () => {
  // One co-player of two actions, four steps; log-probabilities differ in every step, so that none can stand for
  // another.
  const single = coPlayerModel({ featureSize: 4, units: 5, layers: 1, count: 1, actions: 2 });
  const p = [
    [0.1, 0.2, 0.7],
    [0.3, 0.4, 0.3],
    [0.5, 0.25, 0.25],
    [0.6, 0.15, 0.25],
  ];
  const loss = (actions: number[], active: number[], isFirst = [1, 0, 0, 0], of: CoPlayerModel = single) =>
    of
      .loss(tf.log(tf.tensor4d([p.map((row) => [row])])), {
        actions: tf.tensor3d([actions.map((action) => [action])], [1, 4, 1], 'int32'),
        active: tf.tensor3d([active.map((flag) => [flag])]),
        isFirst: tf.tensor2d([isFirst]),
      })
      .dataSync()[0];
  const mean = (...probabilities: number[]) =>
    probabilities.reduce((sum, x) => sum - Math.log(x), 0) / probabilities.length;

  it('is that of the action that the next index holds; what follows the last step is not known', () => {
    expect(loss([-1, 1, 0, 1], [1, 1, 1, 1])).toBeCloseTo(mean(p[0][1], p[1][0], p[2][1]), 5);
  });

  it('counts the step in which one has left, once', () => {
    // Acts after 0, is gone at 1.
    expect(loss([-1, 1, -1, -1], [1, 0, 0, 0])).toBeCloseTo(mean(p[0][1], p[1][2]), 5);
    expect(loss([-1, 1, 0, -1], [1, 1, 0, 0])).toBeCloseTo(mean(p[0][1], p[1][0], p[2][2]), 5);
  });

  it('does not reach over to the next episode', () => {
    // The second episode begins at 2, where the one who had left is back.
    expect(loss([-1, 1, -1, 0], [1, 1, 1, 1], [1, 0, 1, 0])).toBeCloseTo(mean(p[0][1], p[2][0]), 5);
    expect(loss([-1, 0, -1, 0], [1, 1, 0, 0], [1, 0, 1, 0])).toBeCloseTo(mean(p[0][0]), 5);
  });

  it('is 0 where nobody is there', () => {
    expect(loss([-1, -1, -1, -1], [0, 0, 0, 0])).toBe(0);
  });
});

describe('networks with co-players', () => {
  const options = {
    observations: { position: { kind: 'vector', size: 3 } },
    actions: { kind: 'discrete', count: K },
    size: 'debug',
  } as const;
  const plain = dreamerNets(options);
  const nets = dreamerNets({ ...options, coPlayers: M });

  it('have a wider action and a head more, and nothing else', () => {
    const { hidden, deter, stoch, classes, units } = nets.sizes;
    const wider = M * K * hidden;
    const features = deter + stoch * classes;
    const head = features * units + 2 * units + units * M * (K + 1) + M * (K + 1); // a layer, then logits
    expect(nets.parameterCount - plain.parameterCount).toBe(wider + head);
    expect('coPlayers' in plain).toBe(false);
    expect(Object.keys(plain.specs).some((name) => name.startsWith('moa/'))).toBe(false);
    const action = { kind: 'continuous', size: 2 } as const;
    expect(() => dreamerNets({ ...options, actions: action, coPlayers: 1 })).toThrow(/discrete actions/);
  });
});
