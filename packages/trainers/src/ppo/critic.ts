import { gatherRows } from '@coplay/buffers';
import { type Experience, fail, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { type ActorCritic, cutRows, experienceRows, type InputEncoder } from '@coplay/models';
import type { Compiled, StepFunction } from '@coplay/tensor';
import { paddedCount, padRows } from '../padding';
import { clearAbsent, indicesOf, inSequences, prefixInputs, seatRows } from './rows';
import { criticRows } from './step';

/** What a critic needs to value experience. */
export interface CriticParts {
  readonly net: ActorCritic;
  readonly encoder: InputEncoder;
  /** The compiled {@link valueStep}; asked anew for every call. */
  readonly run: () => Compiled;
}

/** Valuing as a function of tensors: inputs `critic/NAME` and, recurrent, `isFirst`, `criticState`; outputs `values` [B], `states`. */
export function valueStep(net: ActorCritic): StepFunction<'params'> {
  return (state, inputs) => {
    const { values, states } = net.value(state.params, criticRows(inputs));
    return { outputs: states ? { values, states } : { values } };
  };
}

/** The critic's view of one seat of an experience. */
export interface SeatValues {
  /** [E T] of what was seen before each step */
  readonly values: Float32Array;
  /** [N] of what was seen after each cut */
  readonly cutValues: Float32Array;
  /** [E, T, stateSize] the recurrent state after each step; only of recurrent critics */
  readonly states?: NDArray<Float32Array>;
}

/** A critic over parameters that others may be training. */
export interface Critic {
  /** @param state [E, stateSize] the recurrent state that enters step 0; empty for feedforward networks */
  value(experience: Experience, seat: number, state: Float32Array): Promise<SeatValues>;
}

/** Values experience seat by seat, all steps at once. */
export function createCritic({ net, encoder, run }: CriticParts): Critic {
  const feedforward = async (experience: Experience, seat: number): Promise<SeatValues> => {
    const open = openCuts(experience, seat);
    const seen = gatherRows(encoder.encode(cutRows(experience, seat)), open);
    return {
      values: await valuesOf(run(), encoder.encode(experienceRows(experience, seat))),
      cutValues: atCuts(experience, open, await valuesOf(run(), seen)),
    };
  };

  const recurrent = async (experience: Experience, seat: number, state: Float32Array): Promise<SeatValues> => {
    const { envs, steps } = experience;
    const rows = encoder.encode(experienceRows(experience, seat));
    clearAbsent(rows, seatRows(experience.active, seat, experience.agents.length).data);
    const { values, states } = await run()({
      ...prefixInputs('critic', inSequences(rows, steps)),
      isFirst: ndarray(experience.isFirst, [envs, steps]),
      criticState: ndarray(state, [envs, net.stateSize]),
    });
    const after = states as NDArray<Float32Array>;
    return {
      values: values!.data as Float32Array,
      cutValues: await valuesAtCuts(run(), encoder, experience, seat, after),
      states: after,
    };
  };

  return { value: net.stateSize > 0 ? recurrent : feedforward };
}

async function valuesOf(run: Compiled, rows: NamedArrays): Promise<Float32Array> {
  const count = Object.values(rows)[0]?.shape[0] ?? 0;
  if (count === 0) return new Float32Array(0);
  const { values } = await run(prefixInputs('critic', padRows(rows, paddedCount(count))));
  return (values!.data as Float32Array).subarray(0, count);
}

/** One step of the recurrent critic from the state after each cut's step. */
async function valuesAtCuts(
  run: Compiled,
  encoder: InputEncoder,
  experience: Experience,
  seat: number,
  states: NDArray<Float32Array>,
): Promise<Float32Array> {
  const { env, step } = experience.cuts;
  const open = openCuts(experience, seat);
  const count = open.length;
  if (count === 0) return new Float32Array(env.length);
  const size = states.shape[2];
  const flat = { states: { data: states.data, shape: [experience.envs * experience.steps, size] } };
  const places = open.map((n) => env[n] * experience.steps + step[n]);
  const seen = gatherRows(encoder.encode(cutRows(experience, seat)), open);
  const rows = {
    ...prefixInputs('critic', inSequences(seen, 1)),
    isFirst: ndarray(new Float32Array(count), [count, 1]),
    criticState: gatherRows(flat, places)['states'],
  };
  const { values } = await run(padRows(rows, paddedCount(count)));
  return atCuts(experience, open, values!.data as Float32Array);
}

/** The numbers of the cuts at which a seat's values are bootstrapped: where it played and the rules didn't end it. */
function openCuts({ cuts, steps, agents, active, terminated }: Experience, seat: number): Int32Array {
  const isOpen = Array.from(cuts.env, (env, n) => {
    const row = (env * steps + cuts.step[n]) * agents.length + seat;
    return active[row] === 1 && terminated[row] === 0 ? 1 : 0;
  });
  return indicesOf(isOpen);
}

/** Values [N] of all cuts out of those of the open ones; 0 at the others. */
function atCuts({ cuts }: Experience, open: Int32Array, values: Float32Array): Float32Array {
  const all = new Float32Array(cuts.env.length);
  open.forEach((n, i) => {
    all[n] = values[i];
  });
  return all;
}

/** The critic's states that enter the next segment: those after the last step, [E, stateSize]. */
export function lastStates(states: NDArray<Float32Array>): Float32Array {
  const [envs, steps, size] = states.shape as [number, number, number];
  const last = new Float32Array(envs * size);
  for (let e = 0; e < envs; e++) {
    const from = ((e + 1) * steps - 1) * size;
    last.set(states.data.subarray(from, from + size), e * size);
  }
  return last;
}

/** The states [E T, stateSize] that entered each step, out of those after each step and the ones at the start. */
export function enteringStates(states: NDArray<Float32Array>, start: Float32Array): NDArray<Float32Array> {
  const [envs, steps, size] = states.shape as [number, number, number];
  const entering = new Float32Array(states.data.length);
  for (let e = 0; e < envs; e++) {
    entering.set(start.subarray(e * size, (e + 1) * size), e * steps * size);
    entering.set(states.data.subarray(e * steps * size, ((e + 1) * steps - 1) * size), (e * steps + 1) * size);
  }
  return { data: entering, shape: [envs * steps, size] };
}

/** The recorded states [E T, stateSize] in which the actor entered each step. */
export function actorStates(experience: Experience, seat: number, size: number): NDArray {
  const recorded = experience.extras['actorStates'];
  if (!recorded) {
    fail('ppo.update', 'experience with the extra actorStates', 'none', 'Collect it with the agent of this learner.');
  }
  return seatRows(recorded.data, seat, experience.agents.length, [size]);
}
