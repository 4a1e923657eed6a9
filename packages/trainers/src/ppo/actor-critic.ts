import {
  type ActionSpaces,
  type AgentInput,
  type Experience,
  type NamedArrays,
  type NDArray,
  ndarray,
} from '@coplay/core';
import { allocateRows, gatherInto, nonZero, paddedCount, reshapeRows, rowSpecOf, takeRows } from '@coplay/core/rows';
import { actingRows, cutRows } from '@coplay/models';
import { prefixed } from '@coplay/models/layers';
import type { Compiled } from '@coplay/tensor';
import { criticColumns, type SeatRows } from './data';
import type { PpoSetup } from './setup';

/** A running actor: from an agent's inputs to the numbers of its policy. */
export interface Policy {
  /**
   * @param seat   the seat of the agent that acts
   * @param state  [B, stateSize]; empty for feedforward networks. Zeroed here where an episode begins
   * @param extras [B, ...] inputs of the encoder in addition to the observation, such as subgoals
   * @returns the policy [B, P], the state that entered (after zeroing), and the next state
   */
  act(input: AgentInput<ActionSpaces>, seat: number, state: Float32Array, extras?: NamedArrays): Promise<PolicyAnswer>;
}

/** What {@link Policy.act} returns. */
export interface PolicyAnswer {
  /** Log-probabilities of choices; of a box means and logarithms of standard deviations */
  readonly policy: Float32Array;
  readonly entered: NDArray<Float32Array>;
  readonly next: Float32Array;
}

/**
 * Acts with the parameters that a compiled function has at that moment.
 *
 * @param run  gives the compiled `actForward`; called for each answer, since learners replace theirs
 */
export function createPolicy({ net, actorEncoder }: PpoSetup, run: () => Compiled): Policy {
  return {
    async act(input, seat, state, extras) {
      const entered = ndarray(startAnew(state, input.isFirst, net.stateSize), [input.rows, net.stateSize]);
      const feeds: NamedArrays = {
        ...prefixed('actor', actorEncoder.encode(actingRows(input, seat, extras))),
      };
      if (net.actions > 0) feeds['mask'] = ndarray(input.masks, [input.rows, net.actions]);
      if (net.stateSize > 0) feeds['actorState'] = entered;
      const { policy, next } = await run()(feeds);
      return {
        policy: policy!.data as Float32Array,
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

/** The critic's view of one seat of an experience. */
export interface SeatValues {
  /** [E T] of the observations before each step */
  readonly values: Float32Array;
  /** [N] of the observations after each cut */
  readonly cutValues: Float32Array;
  /** Of recurrent critics. */
  readonly states?: {
    /** [E T, S] in which it entered each step */
    readonly entered: NDArray<Float32Array>;
    /** [E, S] after the last step */
    readonly last: Float32Array;
  };
}

/**
 * Values one seat of an experience, all steps at once.
 *
 * @param run    gives the compiled `valueForward`
 * @param state  [E, S] the recurrent state that enters step 0; empty for feedforward networks
 */
export async function evaluateSeat(
  setup: PpoSetup,
  run: () => Compiled,
  rows: SeatRows,
  state: Float32Array,
): Promise<SeatValues> {
  return setup.net.stateSize > 0 ? evaluateSequences(setup, run, rows, state) : evaluateSteps(setup, run, rows);
}

async function evaluateSteps(setup: PpoSetup, run: () => Compiled, rows: SeatRows): Promise<SeatValues> {
  const { experience, seat, count } = rows;
  const open = openCuts(experience, seat);
  const seen = seenAtCuts(setup, experience, seat, open);
  const { values } = await run()(prefixed('critic', criticColumns(rows)));
  const atOpen = open.length === 0 ? undefined : await run()(prefixed('critic', seen));
  return {
    values: (values.data as Float32Array).subarray(0, count),
    cutValues: atCuts(experience, open, atOpen?.['values']),
  };
}

async function evaluateSequences(
  setup: PpoSetup,
  run: () => Compiled,
  rows: SeatRows,
  state: Float32Array,
): Promise<SeatValues> {
  const { experience, seat } = rows;
  const { envs, steps } = experience;
  const { stateSize } = setup.net;
  const { values, states } = await run()({
    ...prefixed('critic', reshapeRows(criticColumns(rows), [envs, steps])),
    isFirst: ndarray(experience.isFirst, [envs, steps]),
    criticState: ndarray(state, [envs, stateSize]),
  });
  const after = (states as NDArray<Float32Array>).data; // [E, T, S]
  return {
    values: values.data as Float32Array,
    cutValues: await valuesAtCuts(setup, run, experience, seat, after),
    states: {
      entered: enteringStates(after, state, experience, stateSize),
      last: lastStates(after, experience, stateSize),
    },
  };
}

/** One step of the recurrent critic from the state after each cut's step. */
async function valuesAtCuts(
  setup: PpoSetup,
  run: () => Compiled,
  experience: Experience<ActionSpaces>,
  seat: number,
  states: Float32Array,
): Promise<Float32Array> {
  const { cuts, steps } = experience;
  const { stateSize } = setup.net;
  const open = openCuts(experience, seat);
  if (open.length === 0) return atCuts(experience, open, undefined);
  const size = paddedCount(open.length);
  const criticState = new Float32Array(size * stateSize);
  criticState.set(
    takeRows(
      states,
      open.map((n) => cuts.env[n] * steps + cuts.step[n]),
      stateSize,
    ),
  );
  const { values } = await run()({
    ...prefixed('critic', reshapeRows(seenAtCuts(setup, experience, seat, open), [size, 1])),
    isFirst: ndarray(new Float32Array(size), [size, 1]),
    criticState: ndarray(criticState, [size, stateSize]),
  });
  return atCuts(experience, open, values);
}

/** A seat's observations at its open cuts, padded to one of few sizes. */
function seenAtCuts(
  { criticEncoder }: PpoSetup,
  experience: Experience<ActionSpaces>,
  seat: number,
  open: Int32Array,
): NamedArrays {
  const all = criticEncoder.encode(cutRows(experience, seat));
  const seen = allocateRows(rowSpecOf(all), paddedCount(open.length));
  gatherInto(seen, 0, all, open);
  return seen;
}

/** The numbers of the cuts at which a seat's values are bootstrapped: where it played and the rules didn't end it. */
function openCuts({ cuts, steps, agents, active, terminated }: Experience<ActionSpaces>, seat: number): Int32Array {
  const isOpen = Array.from(cuts.env, (env, n) => {
    const row = (env * steps + cuts.step[n]) * agents.length + seat;
    return active[row] === 1 && terminated[row] === 0 ? 1 : 0;
  });
  return nonZero(isOpen);
}

/** Values [N] of all cuts from the values of the open ones; 0 at the others. */
function atCuts({ cuts }: Experience<ActionSpaces>, open: Int32Array, values: NDArray | undefined): Float32Array {
  const all = new Float32Array(cuts.env.length);
  open.forEach((n, i) => {
    all[n] = values!.data[i];
  });
  return all;
}

/** The critic's states that enter the next segment: those after the last step, [E, S]. */
function lastStates(after: Float32Array, { envs, steps }: Experience<ActionSpaces>, size: number): Float32Array {
  return takeRows(
    after,
    Int32Array.from({ length: envs }, (_, e) => (e + 1) * steps - 1),
    size,
  );
}

/** The states [E T, S] that entered each step, out of those after each step and the ones at the start. */
function enteringStates(
  after: Float32Array,
  start: Float32Array,
  { envs, steps }: Experience<ActionSpaces>,
  size: number,
): NDArray<Float32Array> {
  const entering = new Float32Array(after.length);
  for (let e = 0; e < envs; e++) {
    entering.set(start.subarray(e * size, (e + 1) * size), e * steps * size);
    entering.set(after.subarray(e * steps * size, ((e + 1) * steps - 1) * size), (e * steps + 1) * size);
  }
  return { data: entering, shape: [envs * steps, size] };
}
