import { gatherRows } from '@coplay/buffers';
import { type Experience, fail, type NamedArrays, ndarray } from '@coplay/core';
import { type ActorCritic, experienceRows, type InputEncoder } from '@coplay/models';
import { actorStates } from './critic';
import type { ResolvedPpoOptions } from './options';
import { clearAbsent, indicesOf, inSequences, prefixInputs, seatRows } from './rows';
import type { Targets } from './targets';

/** What rows for PPO are made with. */
export interface RowParts {
  readonly net: ActorCritic;
  readonly actorEncoder: InputEncoder;
  /** The same object as the actor's where the critic sees the same. */
  readonly criticEncoder: InputEncoder;
  /** L; only for recurrent networks */
  readonly sequenceLength: number;
  /** Whom imagined rows teach. */
  readonly options: Pick<ResolvedPpoOptions, 'imaginedActor' | 'imaginedCritic'>;
}

/** Everything PPO knows of one seat's experience. */
export interface SeatExperience {
  readonly experience: Experience;
  readonly seat: number;
  /** [E, T, A] */
  readonly values: Float32Array;
  readonly targets: Targets;
  /** [E T, stateSize] in which the critic entered each step; only for recurrent networks */
  readonly criticStates?: NamedArrays[string];
}

/**
 * The rows of one seat as inputs of {@link ppoStep}: one row a step in which the agent was active; for recurrent networks
 * one row a sequence of L steps in which it was active at least once, with weight 0 where it wasn't.
 */
export function ppoRows(parts: RowParts, data: SeatExperience): NamedArrays {
  const steps = stepRows(parts, data);
  const active = seatRows(data.experience.active, data.seat, data.experience.agents.length).data;
  if (parts.net.stateSize === 0) return gatherRows(steps, indicesOf(active));
  return sequenceRows(parts, data, steps, Float32Array.from(active));
}

/** All E T rows of the seat. */
function stepRows({ net, actorEncoder, criticEncoder, options }: RowParts, data: SeatExperience): NamedArrays {
  const { experience, seat, values, targets } = data;
  const agents = experience.agents.length;
  const source = experienceRows(experience, seat);
  const column = (array: Float32Array | Uint8Array | Int32Array) => seatRows(array, seat, agents);
  const logProbs = experience.extras['logProbs'];
  if (!logProbs) {
    fail('ppo.update', 'experience with the extra logProbs', 'none', 'Collect it with the agent of this learner.');
  }
  const isImagined = Uint8Array.from({ length: source.rows }, (_, row) => {
    return experience.isImagined[Math.floor(row / experience.steps)];
  });
  return {
    ...prefixInputs('actor', actorEncoder.encode(source)),
    ...(criticEncoder === actorEncoder ? {} : prefixInputs('critic', criticEncoder.encode(source))),
    mask: seatRows(experience.masks, seat, agents, [net.actions]),
    actions: column(experience.actions),
    logProbs: column(logProbs.data as Float32Array),
    values: column(values),
    advantages: column(targets.advantages),
    returns: column(targets.returns),
    isImagined: ndarray(isImagined),
    ...(options.imaginedActor === 'real-only' && { actorWeights: realOnly(isImagined) }),
    ...(options.imaginedCritic === 'real-only' && { criticWeights: realOnly(isImagined) }),
  };
}

/** [rows] 1 for real rows, 0 for imagined ones. */
function realOnly(isImagined: Uint8Array): NamedArrays[string] {
  return ndarray(Float32Array.from(isImagined, (flag) => 1 - flag));
}

function sequenceRows(parts: RowParts, data: SeatExperience, steps: NamedArrays, active: Float32Array): NamedArrays {
  const { experience, seat, criticStates } = data;
  const length = parts.sequenceLength;
  const actorState = actorStates(experience, seat, parts.net.stateSize);
  clearAbsent({ ...steps, actorState }, active);
  const { isImagined, ...perStep } = steps;
  const isFirst = ndarray(Float32Array.from(experience.isFirst));
  const sequences = inSequences({ ...perStep, isFirst, weights: ndarray(active) }, length);
  const starts = Int32Array.from({ length: active.length / length }, (_, i) => i * length);
  const atStart = gatherRows({ isImagined, criticState: criticStates!, actorState }, starts);
  const isUsed = Array.from(starts, (start) => (active.subarray(start, start + length).includes(1) ? 1 : 0));
  return gatherRows({ ...sequences, ...atStart }, indicesOf(isUsed));
}
