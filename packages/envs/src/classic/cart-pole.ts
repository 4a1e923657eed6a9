import { checkOptions, type Game, type Generator } from '@coplay/core';
import { z } from 'zod';
import { stepLimit } from '../game';

/** Options of {@link cartPole}. */
export interface CartPoleOptions {
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 500, as CartPole-v1 */
  readonly maxSteps?: number | undefined;
}

const schema = z.object({ maxSteps: stepLimit.default(500) }).strict();

/** m/s^2 */
const GRAVITY = 9.8;
/** kg */
const CART_MASS = 1;
/** kg */
const POLE_MASS = 0.1;
const TOTAL_MASS = CART_MASS + POLE_MASS;
/** m, half of the pole */
const HALF_LENGTH = 0.5;
/** N */
const FORCE = 10;
/** s between two steps */
const TIME_STEP = 0.02;
/** m from the middle of the track */
const MAX_POSITION = 2.4;
/** rad, 12 degrees */
const MAX_ANGLE = (12 * 2 * Math.PI) / 360;
/** All four values of the first state are uniform in +-START. */
const START = 0.05;

/** Layout of a state: the index of each field, relative to its offset. */
const POSITION = 0;
const VELOCITY = 1;
const ANGLE = 2;
const ANGULAR_VELOCITY = 3;
const STEPS = 4;
const FALLEN = 5;

/**
 * CartPole-v1 of Gymnasium (Barto, Sutton and Anderson 1983; dynamics of Florian 2007): a pole stands on a cart and is
 * kept upright by pushing the cart. One agent; for checking learning code.
 *
 * Actions: 0 push left, 1 push right, with 10 N for 0.02 s. Observation: `state` float32 [4]: cart position (m),
 * velocity (m/s), pole angle (rad), angular velocity (rad/s). Reward: 1 in every step, the last one included. Start:
 * all four values uniform in [-0.05, 0.05). End: terminated when the pole leans more than 12 degrees or the cart is
 * more than 2.4 m off; truncated after 500 steps.
 *
 * @throws CoplayError for unknown options
 */
export function cartPole(options: CartPoleOptions = {}): Game<'float64'> {
  const { maxSteps } = checkOptions('cartPole', schema, options);
  return {
    name: 'cart-pole',
    agents: ['agent_0'],
    actions: 2,
    actionNames: ['left', 'right'],
    observation: {
      state: {
        ...{ shape: [4], dtype: 'float32', kind: 'vector' },
        channels: ['position', 'velocity', 'angle', 'angular velocity'],
      },
    },
    stateType: 'float64',
    stateSize: 6,
    maxSteps,
    infos: [],
    options: { maxSteps },
    reset,
    step: (state, offset, actions, actionsOffset, _generator, result, row) => {
      const hadFallen = state[offset + FALLEN] === 1;
      if (!hadFallen) push(state, offset, actions[actionsOffset] === 1 ? FORCE : -FORCE);
      const steps = ++state[offset + STEPS];
      result.rewards[row] = hadFallen ? 0 : 1;
      result.terminated[row] = state[offset + FALLEN];
      result.truncated[row] = steps >= maxSteps && state[offset + FALLEN] === 0 ? 1 : 0;
    },
    legal: (state, offset, _agent, mask, maskOffset) => {
      mask[maskOffset] = 1;
      mask[maskOffset + 1] = state[offset + FALLEN] === 1 ? 0 : 1;
    },
    observe: (state, offset, _agent, out, row) => {
      for (let i = 0; i < 4; i++) out['state'][row * 4 + i] = state[offset + i];
    },
    isActive: (state, offset) => state[offset + FALLEN] === 0,
    elapsed: (state, offset) => state[offset + STEPS],
  };
}

function reset(state: Float64Array, offset: number, generator: Generator): void {
  for (let i = 0; i < 4; i++) state[offset + i] = START * (2 * generator.uniform() - 1);
  state[offset + STEPS] = 0;
  state[offset + FALLEN] = 0;
}

/** One Euler step of the equations of motion: accelerations from the present state, then all four values at once. */
function push(state: Float64Array, offset: number, force: number): void {
  const position = state[offset + POSITION];
  const velocity = state[offset + VELOCITY];
  const angle = state[offset + ANGLE];
  const spin = state[offset + ANGULAR_VELOCITY];
  const cos = cosine(angle);
  const sin = sine(angle);

  const poleMoment = POLE_MASS * HALF_LENGTH;
  const thrust = (force + poleMoment * spin ** 2 * sin) / TOTAL_MASS;
  const inertia = HALF_LENGTH * (4 / 3 - (POLE_MASS * cos ** 2) / TOTAL_MASS);
  const angularAcceleration = (GRAVITY * sin - cos * thrust) / inertia;
  const acceleration = thrust - (poleMoment * angularAcceleration * cos) / TOTAL_MASS;

  const newPosition = position + TIME_STEP * velocity;
  const newAngle = angle + TIME_STEP * spin;
  state[offset + POSITION] = newPosition;
  state[offset + VELOCITY] = velocity + TIME_STEP * acceleration;
  state[offset + ANGLE] = newAngle;
  state[offset + ANGULAR_VELOCITY] = spin + TIME_STEP * angularAcceleration;
  state[offset + FALLEN] = Math.abs(newPosition) > MAX_POSITION || Math.abs(newAngle) > MAX_ANGLE ? 1 : 0;
}

/**
 * Sine of an angle below 1 rad by its Taylor series, to the last digit below 12 degrees. `Math.sin` may differ there
 * between machines, and an episode shall be the same everywhere.
 */
function sine(x: number): number {
  const y = x * x;
  return x * (1 - (y / 6) * (1 - (y / 20) * (1 - (y / 42) * (1 - (y / 72) * (1 - y / 110)))));
}

/** Cosine, as {@link sine}. */
function cosine(x: number): number {
  const y = x * x;
  return 1 - (y / 2) * (1 - (y / 12) * (1 - (y / 30) * (1 - (y / 56) * (1 - (y / 90) * (1 - y / 132)))));
}
