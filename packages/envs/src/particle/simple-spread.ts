import { type BoxSpace, checkOptions, type Game } from '@coplay/core';
import { z } from 'zod';
import { stepLimit, whole } from '../game';
import { drawPositions, pairsOf, particleGame, seePosition, seeSelf } from './particle-game';
import { distanceOf, isCollision, sizeOfWorld, type World } from './world';

/** Options of {@link simpleSpread}. */
export interface SimpleSpreadOptions {
  /** A, agents and as many landmarks, 1 to 32. Default 3 */
  readonly agents?: number | undefined;
  /** Share of an agent's own collisions in its reward, 0 to 1; the rest is what all earn. Default 0.5 */
  readonly localRatio?: number | undefined;
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 25 */
  readonly maxSteps?: number | undefined;
  /** Whether actions are a box of five numbers. Default false: five discrete actions */
  readonly continuousActions?: boolean | undefined;
}

const schema = z
  .object({
    agents: whole(1, 32).default(3),
    localRatio: z.number().min(0).max(1).default(0.5),
    maxSteps: stepLimit.default(25),
    continuousActions: z.boolean().default(false),
  })
  .strict();

/** An agent that is nearer to a landmark covers it, in mpe2's benchmark data and in `goals`. */
export const COVERED = 0.1;

/**
 * simple_spread of the multi-particle environments (Lowe et al. 2017; simple_spread_v3 of mpe2): A agents cover A
 * landmarks and avoid each other.
 *
 * Actions: stay, left, right, down, up, a force of 5 on a mass of 1 for a time of 0.1; with `continuousActions` five
 * numbers from 0 to 1, of which the force is 5 times (third - second, fifth - fourth). Agents push each other away.
 * Observation: `vector` float32 [6 A]: own velocity and position, positions of the landmarks and of the other agents
 * relative to the observer (x and y each), then 2 (A - 1) zeros, where other games have words. Rewards: localRatio
 * times -1 for each agent that the agent overlaps (radius 0.15), plus (1 - localRatio) times the negative sum over
 * landmarks of the distance to the nearest agent. Start: positions uniform in [-1, 1), at rest. End: truncated after 25
 * steps. Goals: the landmarks, reached within 0.1.
 *
 * @throws CoplayError for an option that is unknown or out of range
 */
export function simpleSpread(
  options: SimpleSpreadOptions & { readonly continuousActions: true },
): Game<'float64', BoxSpace>;
export function simpleSpread(
  options?: SimpleSpreadOptions & { readonly continuousActions?: false | undefined },
): Game<'float64'>;
export function simpleSpread(options: SimpleSpreadOptions = {}): unknown {
  const settings = checkOptions('simpleSpread', schema, options);
  const { agents: A, localRatio, maxSteps, continuousActions } = settings;
  const world: World = {
    agents: A,
    landmarks: A,
    sizes: Array.from({ length: 2 * A }, (_, entity) => (entity < A ? 0.15 : 0.05)),
    collides: Array.from({ length: 2 * A }, (_, entity) => entity < A),
    forces: new Array<number>(A).fill(5),
    maxSpeeds: new Array<number>(A).fill(Number.POSITIVE_INFINITY),
  };
  const others = Array.from({ length: A - 1 }, (_, i) => `other ${i + 1}`);
  const landmarks = Array.from({ length: A }, (_, i) => `landmark ${i}`);
  return particleGame({
    name: 'simple-spread',
    agents: Array.from({ length: A }, (_, i) => `agent_${i}`),
    world,
    words: 0,
    stateSize: sizeOfWorld(world),
    heard: 0,
    isContinuous: continuousActions,
    maxSteps,
    options: { ...settings },
    channels: pairsOf(['velocity', 'position', ...landmarks, ...others, ...others.map((name) => `word of ${name}`)]),
    goals: {
      names: landmarks,
      readsStates: true,
      reached({ agent, after }) {
        for (let i = 0; i < A; i++) if (distanceOf(after, 0, agent, A + i) < COVERED) return i;
        return -1;
      },
    },
    start: (state, offset, generator) => drawPositions(state, offset, 0, 2 * A, 1, generator),
    pay(state, offset, rewards, at) {
      let shared = 0;
      for (let landmark = A; landmark < 2 * A; landmark++) shared -= nearest(state, offset, A, landmark);
      for (let agent = 0; agent < A; agent++) {
        let own = 0;
        for (let other = 0; other < A; other++) {
          if (other !== agent && isCollision(world, state, offset, other, agent)) own--;
        }
        rewards[at + agent] = shared * (1 - localRatio) + own * localRatio;
      }
    },
    see(state, offset, agent, out, at) {
      let next = seeSelf(world, state, offset, agent, out, at);
      for (let landmark = A; landmark < 2 * A; landmark++) {
        next = seePosition(state, offset, agent, landmark, out, next);
      }
      for (let other = 0; other < A; other++) {
        if (other !== agent) next = seePosition(state, offset, agent, other, out, next);
      }
      out.fill(0, next, at + 6 * A);
    },
    landmarkOf: () => ({ kind: 'landmark', symbol: 'x' }),
  });
}

/** Distance of the nearest agent to an entity. */
function nearest(state: Float64Array, offset: number, agents: number, entity: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let agent = 0; agent < agents; agent++) least = Math.min(least, distanceOf(state, offset, agent, entity));
  return least;
}
