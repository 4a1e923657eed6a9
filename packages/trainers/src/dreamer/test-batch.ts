import { createGenerator, type Generator, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { type DreamerActions, type DreamerNets, dreamerNets } from '@coplay/models/dreamer';
import { tf } from '@coplay/tensor';
import { type DreamerParts, imaginationNoise, posteriorNoise } from './data';
import { type DreamerOptions, resolveDreamerOptions } from './options';

const THREE = { kind: 'discrete', count: 3 } as const;

/** Small networks for a vector of 3 and 3 actions, or other ones, with options, and so many co-players. */
export function smallParts(options: DreamerOptions = {}, coPlayers = 0, actions: DreamerActions = THREE): DreamerParts {
  const nets = dreamerNets({
    observations: { vector: { kind: 'vector', size: 3 } },
    actions,
    size: 'debug',
    coPlayers,
  });
  const small = { batchSize: 2, sequenceLength: 4, horizon: 3, ...options };
  return { nets, options: resolveDreamerOptions('test', small, 'debug') };
}

/** Parameters without zeros: heads that begin with them let no gradient through. */
export function stirred(nets: DreamerNets, generator: Generator = createGenerator(5)): NamedArrays {
  const entries = Object.entries(nets.init(generator)).map(([name, { data, shape }]) => {
    return [
      name,
      ndarray(
        Float32Array.from(data, (x) => x + 0.1 * generator.normal()),
        [...shape],
      ),
    ];
  });
  return Object.fromEntries(entries) as NamedArrays;
}

/** A batch with an episode that ends within the first sequence, and all noise. */
export function smallBatch({ nets, options }: DreamerParts, generator: Generator = createGenerator(6)): NamedArrays {
  const { batchSize: B, sequenceLength: T, starts, horizon } = options;
  const some = (...shape: number[]) =>
    ndarray(
      Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => generator.normal()),
      shape,
    );
  const flags = (...places: number[]) => {
    const data = new Float32Array(B * T);
    for (const place of places) data[place] = 1;
    return ndarray(data, [B, T]);
  };
  return {
    'obs/vector': some(B, T, 3),
    previousActions: someActions(nets.actor.actions, B, T, generator),
    rewards: some(B, T),
    isFirst: flags(0, 2),
    isLast: flags(1),
    isTerminal: flags(1),
    startDeter: some(B, nets.sizes.deter),
    startStoch: ndarray(
      Int32Array.from({ length: B * nets.sizes.stoch }, () => generator.integer(4)),
      [B, nets.sizes.stoch],
    ),
    ...(nets.coPlayers && coPlayersIn(B, T, nets.coPlayers.count, generator)),
    ...posteriorNoise(nets, generator, B, T),
    ...imaginationNoise(nets, generator, B * starts, horizon),
    learningRate: ndarray(Float32Array.of(1e-2), []),
    entropyScale: ndarray(Float32Array.of(3e-4), []),
  };
}

function someActions(actions: DreamerActions, B: number, T: number, generator: Generator): NDArray {
  if (actions.kind === 'continuous') {
    const shape = [B, T, actions.size];
    const data = Float32Array.from({ length: B * T * actions.size }, () => 2 * generator.uniform() - 1);
    return ndarray(data, shape);
  }
  if (actions.kind === 'discrete') {
    return ndarray(
      Int32Array.from({ length: B * T }, () => generator.integer(actions.count)),
      [B, T],
    );
  }
  const { counts } = actions;
  const option = (_: unknown, i: number) => generator.integer(counts[i % counts.length]);
  return ndarray(Int32Array.from({ length: B * T * counts.length }, option), [B, T, counts.length]);
}

/** Co-players who all act at random, but for the first one's leaving after two steps of the second sequence. */
function coPlayersIn(B: number, T: number, M: number, generator: Generator): NamedArrays {
  const actions = Int32Array.from({ length: B * T * M }, () => generator.integer(3));
  const active = new Uint8Array(B * T * M).fill(1);
  for (let t = 2; t < T; t++) {
    active[(T + t) * M] = 0;
    if (t > 2) actions[(T + t) * M] = -1;
  }
  return { coPlayerActions: ndarray(actions, [B, T, M]), coPlayersActive: ndarray(active, [B, T, M]) };
}

/** Arrays as tensors; `uint8` becomes float32. */
export function tensorsOf(arrays: NamedArrays): Record<string, tf.Tensor> {
  const entries = Object.entries(arrays).map(([name, { data, shape }]) => {
    return [
      name,
      data instanceof Int32Array
        ? tf.tensor(data, [...shape], 'int32')
        : tf.tensor(Float32Array.from(data), [...shape]),
    ];
  });
  return Object.fromEntries(entries) as Record<string, tf.Tensor>;
}
