import { createGenerator, type Game, type NamedArrays, ndarray } from '@coplay/core';
import { conv, moaNet } from '@coplay/models';
import { denseLayer, prefixed, within } from '@coplay/models/layers';
import { type Compiled, compile, type TensorRecord, tf, useBackend, variables } from '@coplay/tensor';

/** The two networks of a search, compiled. */
export interface BenchNetworks {
  /** `planes` [B, H, W, C], `vector` [B, 1] -> `logits` [B, K], `values` [B] */
  readonly focal: Compiled;
  /** `goals` [B] and `mask` [B, K] too -> `logits` [B, K] */
  readonly coPlayers: Compiled;
  dispose(): void;
}

export const GOALS = 2;
/** As many as the peers have. */
const THREADS = 2;
/**
 * Added to values, as a trained critic's are about the best mean of 3: a search that took every hare would end without
 * asking the networks.
 */
const VALUE = 3;

type Apply = (params: TensorRecord, inputs: TensorRecord) => TensorRecord;

/**
 * Makes the networks of HOP: three convolutions (16, 32, 32), whose output is joined with the time, a dense layer, and
 * heads for policy and value; and a similar one, which reads a goal as well, for all co-players.
 *
 * @param dense  units of the dense layer, 512 in HOP
 * @returns with `isFixed` the parameters are constants of the graphs, as long as no agent learns; else variables, as in
 *          training
 */
export async function benchNetworks(game: Game, dense: number): Promise<(isFixed: boolean) => BenchNetworks> {
  await useBackend('cpu');
  const shapes = { planes: game.observation['planes'].shape, vector: [1] };
  const network = conv({ filters: [16, 32, 32], dense });
  const torso = network(shapes);
  const head = (outputSize: number) => denseLayer({ inputSize: torso.outputSize, outputSize, gain: 1 });
  const [policy, value] = [head(game.actions), head(1)];
  const moa = moaNet({ inputs: shapes, actions: game.actions, goals: GOALS, network });
  const params = {
    ...prefixed('torso', torso.init(createGenerator(1))),
    ...prefixed('policy', policy.init(createGenerator(2))),
    ...prefixed('value', value.init(createGenerator(3))),
  };
  const moaParams = moa.init(createGenerator(4));
  const applyFocal: Apply = (weights, inputs) => {
    const features = torso.apply(within('torso', weights), inputs);
    const values = tf.squeeze(value.apply(within('value', weights), features), [1]);
    return { logits: policy.apply(within('policy', weights), features), values: tf.add(values, VALUE) };
  };
  const applyMoa: Apply = (weights, { goals, mask, ...inputs }) => {
    return { logits: moa.step(weights, inputs, mask as tf.Tensor2D, goals as tf.Tensor1D).policy };
  };
  return (isFixed) => {
    const made = isFixed ? withConstants : withVariables;
    const focal = made('mcts/focal', params, applyFocal);
    const coPlayers = made('mcts/co-players', moaParams, applyMoa);
    const dispose = () => {
      focal.dispose();
      coPlayers.dispose();
    };
    return { focal: focal.run, coPlayers: coPlayers.run, dispose };
  };
}

function withVariables(name: string, params: NamedArrays, apply: Apply) {
  const weights = variables(params);
  const step = (state: Record<'params', TensorRecord>, inputs: TensorRecord) => ({
    outputs: apply(state.params, inputs),
  });
  const run = compile(step, { name, state: { params: weights }, threads: THREADS });
  const dispose = () => {
    run.dispose();
    weights.dispose();
  };
  return { run, dispose };
}

function withConstants(name: string, params: NamedArrays, apply: Apply) {
  const weights = Object.fromEntries(
    Object.entries(params).map(([key, { data, shape }]) => [key, tf.tensor(data as Float32Array, [...shape])]),
  );
  const run = compile((_, inputs: TensorRecord) => ({ outputs: apply(weights, inputs) }), { name, threads: THREADS });
  const dispose = () => {
    run.dispose();
    tf.dispose(weights);
  };
  return { run, dispose };
}

/** The arrays of observations as inputs of both networks. */
export function inputsOf(game: Game, observations: Readonly<Record<string, unknown>>, rows: number) {
  const planes = ndarray(observations['planes'] as Float32Array, [rows, ...game.observation['planes'].shape]);
  return { planes, vector: ndarray(observations['time'] as Float32Array, [rows, 1]) };
}
