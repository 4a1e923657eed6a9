import { type BoxSpace, checkOptions, type Game } from '@coplay/core';
import { z } from 'zod';
import { stepLimit, whole } from '../game';
import { drawPositions, pairsOf, particleGame, seePosition, seeSelf } from './particle-game';
import { exp, isCollision, POSITIONS, sizeOfWorld, velocitiesOf, type World } from './world';

/** Options of {@link simpleTag}. */
export interface SimpleTagOptions {
  /** Good agents, which flee, 1 to 16. Default 1 */
  readonly good?: number | undefined;
  /** Adversaries, which hunt them, 1 to 16. Default 3 */
  readonly adversaries?: number | undefined;
  /** Obstacles, 0 to 16. Default 2 */
  readonly obstacles?: number | undefined;
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 25 */
  readonly maxSteps?: number | undefined;
  /** Whether actions are a box of five numbers. Default false: five discrete actions */
  readonly continuousActions?: boolean | undefined;
}

const schema = z
  .object({
    good: whole(1, 16).default(1),
    adversaries: whole(1, 16).default(3),
    obstacles: whole(0, 16).default(2),
    maxSteps: stepLimit.default(25),
    continuousActions: z.boolean().default(false),
  })
  .strict();

/**
 * simple_tag of the multi-particle environments (Lowe et al. 2017; simple_tag_v3 of mpe2): adversaries hunt good
 * agents, which are faster, around obstacles. Agents are the adversaries, then the good agents.
 *
 * Actions: stay, left, right, down, up, a force of 3 (adversaries) or 4 on a mass of 1 for a time of 0.1; with
 * `continuousActions` five numbers from 0 to 1, of which the force is 3 or 4 times (third - second, fifth - fourth).
 * Speeds are at most 1 and 1.3. Agents and obstacles push agents away. Observation: `vector` float32 [4 + 2 obstacles +
 * 2 (A - 1) + 2 good]: own velocity and position, positions of the obstacles and of the other agents relative to the
 * observer, velocities of the other good agents; that of a good agent, who is one good agent less, ends with two zeros.
 * Rewards: 10 to every adversary for each pair of an adversary and a good agent that overlap, -10 to the good agent; a
 * good agent also pays for each coordinate beyond 0.9: 10 (|x| - 0.9), from 1 on exp(2 |x| - 2), 10 at most. Start:
 * agents uniform in [-1, 1), obstacles in [-0.9, 0.9), at rest. End: truncated after 25 steps. Goals: the good agents,
 * reached by an adversary that overlaps one.
 *
 * @throws CoplayError for an option that is unknown or out of range
 */
export function simpleTag(options: SimpleTagOptions & { readonly continuousActions: true }): Game<'float64', BoxSpace>;
export function simpleTag(
  options?: SimpleTagOptions & { readonly continuousActions?: false | undefined },
): Game<'float64'>;
export function simpleTag(options: SimpleTagOptions = {}): unknown {
  const settings = checkOptions('simpleTag', schema, options);
  const { good, adversaries, obstacles, maxSteps, continuousActions } = settings;
  const A = adversaries + good;
  const kinds = <T>(adversary: T, prey: T): T[] => [
    ...new Array<T>(adversaries).fill(adversary),
    ...new Array<T>(good).fill(prey),
  ];
  const world: World = {
    agents: A,
    landmarks: obstacles,
    sizes: [...kinds(0.075, 0.05), ...new Array<number>(obstacles).fill(0.2)],
    collides: new Array<boolean>(A + obstacles).fill(true),
    forces: kinds(3, 4),
    maxSpeeds: kinds(1, 1.3),
  };
  const prey = Array.from({ length: good }, (_, i) => `agent_${i}`);
  const velocities = velocitiesOf(world);
  const width = 4 + 2 * obstacles + 2 * (A - 1) + 2 * good;
  return particleGame({
    name: 'simple-tag',
    agents: [...Array.from({ length: adversaries }, (_, i) => `adversary_${i}`), ...prey],
    world,
    words: 0,
    stateSize: sizeOfWorld(world),
    heard: 0,
    isContinuous: continuousActions,
    maxSteps,
    options: { ...settings },
    channels: pairsOf([
      'velocity',
      'position',
      ...Array.from({ length: obstacles }, (_, i) => `obstacle ${i}`),
      ...Array.from({ length: A - 1 }, (_, i) => `other ${i + 1}`),
      ...Array.from({ length: good }, (_, i) => `velocity of good agent ${i + 1}`),
    ]),
    goals: {
      names: prey,
      readsStates: true,
      reached({ agent, after }) {
        if (agent >= adversaries) return -1;
        for (let i = 0; i < good; i++) if (isCollision(world, after, 0, agent, adversaries + i)) return i;
        return -1;
      },
    },
    start(state, offset, generator) {
      drawPositions(state, offset, 0, A, 1, generator);
      drawPositions(state, offset, A, obstacles, 0.9, generator);
    },
    pay(state, offset, rewards, at) {
      let caught = 0;
      for (let agent = adversaries; agent < A; agent++) {
        let reward = 0;
        for (let adversary = 0; adversary < adversaries; adversary++) {
          if (!isCollision(world, state, offset, adversary, agent)) continue;
          reward -= 10;
          caught++;
        }
        reward -= beyond(Math.abs(state[offset + POSITIONS + 2 * agent]));
        reward -= beyond(Math.abs(state[offset + POSITIONS + 2 * agent + 1]));
        rewards[at + agent] = reward;
      }
      for (let adversary = 0; adversary < adversaries; adversary++) rewards[at + adversary] = 10 * caught;
    },
    see(state, offset, agent, out, at) {
      let next = seeSelf(world, state, offset, agent, out, at);
      for (let obstacle = A; obstacle < A + obstacles; obstacle++) {
        next = seePosition(state, offset, agent, obstacle, out, next);
      }
      for (let other = 0; other < A; other++) {
        if (other !== agent) next = seePosition(state, offset, agent, other, out, next);
      }
      for (let other = adversaries; other < A; other++) {
        if (other === agent) continue;
        out[next++] = state[offset + velocities + 2 * other];
        out[next++] = state[offset + velocities + 2 * other + 1];
      }
      out.fill(0, next, at + width);
    },
    landmarkOf: () => ({ kind: 'obstacle', symbol: '#' }),
  });
}

/** What a good agent pays for a coordinate of this size. */
function beyond(size: number): number {
  if (size < 0.9) return 0;
  if (size < 1) return (size - 0.9) * 10;
  return size > 3 ? 10 : Math.min(exp(2 * size - 2), 10);
}
