import { type BoxSpace, box, checkOptions, type Game, type Generator } from '@coplay/core';
import { z } from 'zod';
import { stepLimit } from '../game';

/** Options of {@link pendulum}. */
export interface PendulumOptions {
  /** m/s^2, above 0. Default 10 */
  readonly gravity?: number | undefined;
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 200, as Pendulum-v1 */
  readonly maxSteps?: number | undefined;
}

const schema = z.object({ gravity: z.number().positive().default(10), maxSteps: stepLimit.default(200) }).strict();

/** rad/s */
const MAX_SPEED = 8;
/** N m */
const MAX_TORQUE = 2;
/** s between two steps */
const TIME_STEP = 0.05;
/** The pendulum has a mass of 1 kg and a length of 1 m. */
const MASS = 1;
const LENGTH = 1;

/** Layout of a state: the index of each field, relative to its offset. */
const ANGLE = 0;
const SPEED = 1;
const STEPS = 2;

/**
 * Pendulum-v1 of Gymnasium: a pendulum swings freely and is brought upright by a torque that is too weak to lift it at
 * once. One agent with continuous actions; for checking learning code.
 *
 * Actions: a box of one number, the torque from -2 to 2 N m, for 0.05 s. Observation: `state` float32 [3]: cosine and
 * sine of the angle (0 is upright), angular velocity (rad/s, within 8). Reward: -(angle^2 + 0.1 velocity^2 + 0.001
 * torque^2) with the angle in [-pi, pi), before the step: from -16.27 to 0. Start: angle uniform in [-pi, pi), velocity
 * uniform in [-1, 1). End: truncated after 200 steps.
 *
 * @throws CoplayError for unknown options
 */
export function pendulum(options: PendulumOptions = {}): Game<'float64', BoxSpace> {
  const { gravity, maxSteps } = checkOptions('pendulum', schema, options);
  return {
    name: 'pendulum',
    agents: ['agent_0'],
    actions: box({ shape: [1], low: -MAX_TORQUE, high: MAX_TORQUE }),
    actionNames: ['torque'],
    observation: {
      state: {
        ...{ shape: [3], dtype: 'float32', kind: 'vector' },
        channels: ['cosine', 'sine', 'angular velocity'],
      },
    },
    stateType: 'float64',
    stateSize: 3,
    maxSteps,
    infos: [],
    options: { gravity, maxSteps },
    reset,
    step: (state, offset, actions, actionsOffset, _generator, result, row) => {
      result.rewards[row] = push(state, offset, Math.fround(actions[actionsOffset]), gravity);
      result.terminated[row] = 0;
      result.truncated[row] = ++state[offset + STEPS] >= maxSteps ? 1 : 0;
    },
    legal: () => {}, // a box has no mask
    observe: (state, offset, _agent, out, row) => {
      const angle = state[offset + ANGLE];
      out['state'][row * 3] = sine(angle, 1);
      out['state'][row * 3 + 1] = sine(angle, 0);
      out['state'][row * 3 + 2] = state[offset + SPEED];
    },
    isActive: () => true,
    elapsed: (state, offset) => state[offset + STEPS],
  };
}

function reset(state: Float64Array, offset: number, generator: Generator): void {
  state[offset + ANGLE] = Math.PI * (2 * generator.uniform() - 1);
  state[offset + SPEED] = 2 * generator.uniform() - 1;
  state[offset + STEPS] = 0;
}

/**
 * One Euler step of the equation of motion. Terms of the torque alone are rounded to float32, as numpy does with an
 * action of that type.
 *
 * @returns the reward
 */
function push(state: Float64Array, offset: number, torque: number, gravity: number): number {
  const angle = state[offset + ANGLE];
  const speed = state[offset + SPEED];
  const effort = Math.fround(Math.fround(0.001) * Math.fround(torque * torque));
  const cost = normalised(angle) ** 2 + 0.1 * speed ** 2 + effort;
  const thrust = Math.fround((3 / (MASS * LENGTH ** 2)) * torque);
  const acceleration = ((3 * gravity) / (2 * LENGTH)) * sine(angle, 0) + thrust;
  const faster = speed + acceleration * TIME_STEP;
  const limited = Math.min(MAX_SPEED, Math.max(-MAX_SPEED, faster));
  state[offset + ANGLE] = angle + limited * TIME_STEP;
  state[offset + SPEED] = limited;
  return -cost;
}

/** The same angle in [-pi, pi). */
function normalised(angle: number): number {
  const turned = angle + Math.PI;
  return turned - 2 * Math.PI * Math.floor(turned / (2 * Math.PI)) - Math.PI;
}

/** pi / 2 in two parts: products of the first with small whole numbers are exact. */
const QUARTER = 1.5707963267341256;
const QUARTER_REST = 6.077100506506192e-11;

/**
 * Sine of an angle plus some quarter turns (1 gives the cosine), to the last digits. `Math.sin` may differ there
 * between machines, and an episode shall be the same everywhere.
 *
 * @param angle     any number of up to a few thousand
 * @param quarters  0 to 3
 */
function sine(angle: number, quarters: number): number {
  const turns = Math.round(angle / (Math.PI / 2));
  const x = angle - turns * QUARTER - turns * QUARTER_REST; // within pi / 4 of 0
  const quadrant = (turns + quarters) & 3;
  const value = (quadrant & 1) === 0 ? sineSeries(x) : cosineSeries(x);
  return quadrant < 2 ? value : -value;
}

/** Taylor series, to the last digit within pi / 4. */
function sineSeries(x: number): number {
  const y = x * x;
  let sum = 1;
  for (let n = 18; n >= 2; n -= 2) sum = 1 - (y / (n * (n + 1))) * sum;
  return x * sum;
}

function cosineSeries(x: number): number {
  const y = x * x;
  let sum = 1;
  for (let n = 17; n >= 1; n -= 2) sum = 1 - (y / (n * (n + 1))) * sum;
  return sum;
}
