import type { ActionArray, ActionSpaces, AnyGame, Generator, GoalSet, ObservationField } from '@coplay/core';
import { type BoxSpace, box } from '@coplay/core';
import { type Cell, particleScene } from './scene';
import { moveAgents, POSITIONS, STEPS, velocitiesOf, type World } from './world';

/** What one of the games of particles is, in addition to its world. */
export interface Scenario {
  readonly name: string;
  /** [A] ids */
  readonly agents: readonly string[];
  readonly world: World;
  /** Words that an agent that can't move may say, one in each step; 0 where all agents move */
  readonly words: number;
  /** Values of a state: those of the world, then the game's own, of which the first ones are the word that is heard */
  readonly stateSize: number;
  /** Where the word that is heard begins in a state: `words` numbers */
  readonly heard: number;
  readonly isContinuous: boolean;
  readonly maxSteps: number;
  readonly options: Readonly<Record<string, unknown>>;
  /** Names of the observation's numbers */
  readonly channels: readonly string[];
  readonly goals: GoalSet<'float64'>;
  /** Draws positions, and the game's own values; all other values are 0. */
  start(state: Float64Array, offset: number, generator: Generator): void;
  /** Writes the rewards of all agents in the state after a step, from `at` on. */
  pay(state: Float64Array, offset: number, rewards: Float32Array, at: number): void;
  /** Writes an agent's observation, from `at` on. */
  see(state: Float64Array, offset: number, agent: number, out: Float32Array, at: number): void;
  /** Kind and symbol of each landmark in a state, for pictures. */
  landmarkOf(state: Float64Array, offset: number, landmark: number): Cell;
}

/** Discrete actions of an agent that moves. */
const MOVES = ['stay', 'left', 'right', 'down', 'up'];

/** A game of particles: how actions become forces and words, and all that its scenario doesn't say. */
export function particleGame(scenario: Scenario): AnyGame<'float64'> {
  const { name, agents, world, words, stateSize, heard, isContinuous, maxSteps, options, channels, goals } = scenario;
  const A = agents.length;
  const width = isContinuous ? Math.max(MOVES.length, words) : 1;
  const forces = new Float64Array(2 * A);
  const act = isContinuous ? actContinuously : actDiscretely;
  const vector: ObservationField = { shape: [channels.length], dtype: 'float32', kind: 'vector', channels };
  return {
    name,
    agents,
    actions: isContinuous ? boxesOf(scenario) : MOVES.length,
    actionNames: MOVES.map((move, i) => (i < words ? `${move} or word ${i}` : move)),
    observation: { vector },
    stateType: 'float64',
    stateSize,
    maxSteps,
    infos: [],
    options,
    goals,
    reset(state, offset, generator) {
      state.fill(0, offset, offset + stateSize);
      scenario.start(state, offset, generator);
    },
    step(state, offset, actions, actionsOffset, _generator, result, row) {
      state.fill(0, offset + heard, offset + heard + words);
      for (let agent = 0; agent < A; agent++) {
        const at = actionsOffset + agent * width;
        if (world.forces[agent] > 0) act(actions, at, world.forces[agent], forces, 2 * agent);
        else speak(actions, at, isContinuous, words, state, offset + heard);
      }
      moveAgents(world, state, offset, forces);
      const isLast = ++state[offset + STEPS] >= maxSteps ? 1 : 0;
      scenario.pay(state, offset, result.rewards, row * A);
      for (let i = row * A; i < (row + 1) * A; i++) {
        result.terminated[i] = 0;
        result.truncated[i] = isLast;
      }
    },
    legal(_state, _offset, agent, mask, maskOffset) {
      if (isContinuous) return; // a box has no mask
      const count = world.forces[agent] > 0 ? MOVES.length : words;
      for (let action = 0; action < MOVES.length; action++) mask[maskOffset + action] = action < count ? 1 : 0;
    },
    observe: (state, offset, agent, out, row) =>
      scenario.see(state, offset, agent, out['vector'] as Float32Array, row * channels.length),
    isActive: () => true,
    elapsed: (state, offset) => state[offset + STEPS],
    scene: (state, offset) => particleScene(world, state, offset, scenario.landmarkOf),
  };
}

/** The boxes of all agents: five numbers from 0 to 1 that push, and as many as there are words of one that speaks. */
function boxesOf({ agents, world, words }: Scenario): ActionSpaces {
  const spaceOf = (size: number): BoxSpace => box({ shape: [size], low: 0, high: 1 });
  if (words === 0) return spaceOf(MOVES.length);
  return Object.fromEntries(agents.map((id, i) => [id, spaceOf(world.forces[i] > 0 ? MOVES.length : words)]));
}

/** Writes the force of a discrete action, to `at` and after it. */
function actDiscretely(actions: ActionArray, from: number, strength: number, forces: Float64Array, at: number): void {
  const action = actions[from];
  forces[at] = action === 1 ? -strength : action === 2 ? strength : 0;
  forces[at + 1] = action === 3 ? -strength : action === 4 ? strength : 0;
}

/** Writes the force of a continuous action. Its numbers are float32, and so are their differences. */
function actContinuously(actions: ActionArray, from: number, strength: number, forces: Float64Array, at: number): void {
  forces[at] = Math.fround(actions[from + 2] - actions[from + 1]) * strength;
  forces[at + 1] = Math.fround(actions[from + 4] - actions[from + 3]) * strength;
}

/** Writes the word of an agent that can't move: a one at its number, or the numbers of a continuous action. */
function speak(
  actions: ActionArray,
  from: number,
  isContinuous: boolean,
  words: number,
  state: Float64Array,
  heard: number,
): void {
  if (isContinuous) {
    for (let word = 0; word < words; word++) state[heard + word] = actions[from + word];
  } else if (actions[from] < words) {
    state[heard + actions[from]] = 1;
  }
}

/** Draws x and y of `count` entities, from entity `first` on, uniform in [-limit, limit). */
export function drawPositions(
  state: Float64Array,
  offset: number,
  first: number,
  count: number,
  limit: number,
  generator: Generator,
): void {
  const start = offset + POSITIONS + 2 * first;
  for (let i = start; i < start + 2 * count; i++) state[i] = limit * (2 * generator.uniform() - 1);
}

/** Writes an agent's velocity and position. @returns where the next number belongs */
export function seeSelf(
  world: World,
  state: Float64Array,
  offset: number,
  agent: number,
  out: Float32Array,
  at: number,
): number {
  const velocity = offset + velocitiesOf(world) + 2 * agent;
  const position = offset + POSITIONS + 2 * agent;
  out[at] = state[velocity];
  out[at + 1] = state[velocity + 1];
  out[at + 2] = state[position];
  out[at + 3] = state[position + 1];
  return at + 4;
}

/** Writes the position of an entity relative to an agent. @returns where the next number belongs */
export function seePosition(
  state: Float64Array,
  offset: number,
  agent: number,
  entity: number,
  out: Float32Array,
  at: number,
): number {
  const first = offset + POSITIONS;
  out[at] = state[first + 2 * entity] - state[first + 2 * agent];
  out[at + 1] = state[first + 2 * entity + 1] - state[first + 2 * agent + 1];
  return at + 2;
}

/** Names of x and y of each of some things. */
export function pairsOf(names: readonly string[]): string[] {
  return names.flatMap((name) => [`${name} x`, `${name} y`]);
}
