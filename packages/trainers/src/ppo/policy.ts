import { type AgentInput, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { type ActorCritic, actingRows, type InputEncoder } from '@coplay/models';
import type { Compiled, StepFunction, tf } from '@coplay/tensor';
import { prefixInputs } from './rows';
import { actorRows } from './step';

/** What a policy needs to act. */
export interface PolicyParts {
  readonly net: ActorCritic;
  readonly encoder: InputEncoder;
  /** The compiled {@link actStep}; asked anew for every call. */
  readonly run: () => Compiled;
}

/** Acting as a function of tensors: inputs `actor/NAME`, `mask` [B, K] and, recurrent, `actorState`; outputs `logProbs` [B, K], `next`. */
export function actStep(net: ActorCritic): StepFunction<'params'> {
  return (state, inputs) => {
    const rows = actorRows(inputs);
    const { logProbs, state: next } = net.act(state.params, rows.inputs, inputs['mask'] as tf.Tensor2D, rows.state);
    return { outputs: next ? { logProbs, next } : { logProbs } };
  };
}

/** An actor that runs: from what an agent sees to log-probabilities. */
export interface Policy {
  /**
   * @param seat   the seat of the agent that acts
   * @param state  [B, stateSize]; empty for feedforward networks. Zeroed here where an episode begins
   * @param extras [B, ...] what the encoder reads besides the observation, such as subgoals
   * @returns logProbs [B, K], the state that entered (after zeroing), and the next state
   */
  act(input: AgentInput, seat: number, state: Float32Array, extras?: NamedArrays): Promise<PolicyAnswer>;
}

/** What {@link Policy.act} returns. */
export interface PolicyAnswer {
  readonly logProbs: Float32Array;
  readonly entered: NDArray<Float32Array>;
  readonly next: Float32Array;
}

/** Acts with whatever parameters the compiled function has at that moment. */
export function createPolicy({ net, encoder, run }: PolicyParts): Policy {
  return {
    async act(input, seat, state, extras) {
      const entered = ndarray(startAnew(state, input.isFirst, net.stateSize), [input.rows, net.stateSize]);
      const feeds: NamedArrays = {
        ...prefixInputs('actor', encoder.encode(actingRows(input, seat, extras))),
        mask: ndarray(input.masks, [input.rows, net.actions]),
      };
      if (net.stateSize > 0) feeds['actorState'] = entered;
      const { logProbs, next } = await run()(feeds);
      return {
        logProbs: logProbs!.data as Float32Array,
        entered,
        next: (next?.data as Float32Array | undefined) ?? state,
      };
    },
  };
}

/** A copy of the states, zero in the rows where an episode begins. */
function startAnew(states: Float32Array, isFirst: Uint8Array, size: number): Float32Array {
  const entered = states.slice();
  for (let row = 0; row < isFirst.length && size > 0; row++) {
    if (isFirst[row] === 1) entered.fill(0, row * size, (row + 1) * size);
  }
  return entered;
}
