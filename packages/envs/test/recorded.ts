import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ActionArray, type AnyGame, createGenerator } from '@coplay/core';
import { actionLayout, allocateObservations, allocateStepArrays } from '@coplay/core/arrays';
import {
  cartPole,
  levelForaging,
  overcooked,
  pendulum,
  simpleSpeakerListener,
  simpleSpread,
  simpleTag,
} from '@coplay/envs';
import { expect } from 'vitest';

/** An episode of a public Python game, see data/record_episodes.py. */
export interface Recorded {
  /** Of our game */
  readonly options: Readonly<Record<string, unknown>>;
  /** The first state */
  readonly start: readonly number[];
  /** [T, A] a number, or the values of an action */
  readonly actions: readonly (readonly (number | readonly number[])[])[];
  /** Some of the steps; the last one is among them. */
  readonly steps: readonly RecordedStep[];
  /** [A] sums of the rewards of all steps */
  readonly returns: readonly number[];
  /** [A] sums of the infos of all steps */
  readonly infos: Readonly<Record<string, readonly number[]>>;
  /** Of all agents, after the last step */
  readonly terminated: boolean;
  readonly truncated: boolean;
}

interface RecordedStep {
  /** From 1 */
  readonly step: number;
  /** [A] */
  readonly rewards: readonly number[];
  /** The state after the step */
  readonly state: readonly number[];
  /** [A] what each agent sees then */
  readonly observations: readonly (readonly number[] | Sparse)[];
}

/** A long list of numbers, most of which are 0. */
interface Sparse {
  readonly size: number;
  readonly places: readonly number[];
  readonly values: readonly number[];
}

/** How a recording is compared with ours. */
interface Comparison {
  /** Modules of Python that make the recording */
  readonly modules: readonly string[];
  /** Our game for a case */
  make(options: object, name: string): AnyGame;
  /** How far numbers of a state may be apart */
  readonly state: number;
}

const overcookedGame = {
  modules: ['numpy', 'overcooked_ai_py'],
  make: overcooked,
  state: 1e-9,
};

/** By the names that data/record_episodes.py takes. */
export const COMPARISONS: Readonly<Record<string, Comparison>> = {
  // Sines of different libraries may differ in the last of 16 digits.
  cartpole: { modules: ['gymnasium'], make: cartPole, state: 1e-12 },
  // The swing multiplies such differences.
  pendulum: { modules: ['gymnasium'], make: pendulum, state: 1e-10 },
  // Forces of a contact grow with exp(1000 overlap): they multiply a difference in the last digit.
  particle: {
    modules: ['mpe2', 'pettingzoo'],
    make: (options, name) => PARTICLES[name.split(',')[0]](options),
    state: 1e-9,
  },
  foraging: {
    modules: ['lbforaging', 'gymnasium'],
    make: levelForaging,
    state: 1e-9,
  },
  overcooked: overcookedGame,
  overcooked_old: overcookedGame,
};

const PARTICLES: Readonly<Record<string, (options: object) => AnyGame>> = {
  spread: simpleSpread,
  tag: simpleTag,
  'speaker listener': simpleSpeakerListener,
};

const DATA = fileURLToPath(new URL('./data', import.meta.url));
/** The script that makes recordings. */
export const SCRIPT = join(DATA, 'record_episodes.py');

/** The episodes of a recording, by name. */
export function recordedCases(kind: string, folder = DATA): [string, Recorded][] {
  const text = readFileSync(join(folder, `${kind}-golden.json`), 'utf8');
  return Object.entries((JSON.parse(text) as { cases: Record<string, Recorded> }).cases);
}

/** Plays a recorded episode with our game, and expects the same states, rewards, infos, observations and ends. */
export function expectSameEpisode(kind: string, name: string, recorded: Recorded): void {
  const { make, state: tolerance } = COMPARISONS[kind];
  const game = make(recorded.options, name);
  const [field] = Object.keys(game.observation);
  const A = game.agents.length;
  const { width, dtype } = actionLayout(game);
  const generator = createGenerator(0);
  const { stateSize } = game;
  const state = game.stateType === 'float64' ? new Float64Array(stateSize) : new Int32Array(stateSize);
  const result = allocateStepArrays(game, 1);
  const seen = allocateObservations(game.observation, A);
  const sums = new Float64Array(A);
  const infos = Object.keys(recorded.infos).map((name) => ({ name, sums: new Float64Array(A) }));
  const byStep = new Map(recorded.steps.map((step) => [step.step, step]));
  game.reset(state, 0, generator);
  state.set(recorded.start);
  recorded.actions.forEach((actions, t) => {
    const values: ActionArray = dtype === 'int32' ? new Int32Array(A * width) : new Float32Array(A * width);
    actions.forEach((action, agent) => {
      values.set(typeof action === 'number' ? [action] : action, agent * width);
    });
    game.step(state, 0, values, 0, generator, result, 0);
    const isLast = t === recorded.actions.length - 1;
    for (let agent = 0; agent < A; agent++) {
      sums[agent] += result.rewards[agent];
      for (const info of infos) info.sums[agent] += result.infos[info.name][agent];
      expect(result.terminated[agent] === 1, `terminated in step ${t + 1}`).toBe(isLast && recorded.terminated);
      expect(result.truncated[agent] === 1, `truncated in step ${t + 1}`).toBe(isLast && recorded.truncated);
    }
    const step = byStep.get(t + 1);
    if (!step) return;
    const where = `step ${t + 1}`;
    expectNear(step.state, state.subarray(0, step.state.length), tolerance, `state after ${where}`);
    expectNear(step.rewards, result.rewards, 1e-6, `rewards of ${where}`);
    for (let agent = 0; agent < A; agent++) game.observe(state, 0, agent, seen, agent);
    const size = seen[field].length / A;
    step.observations.forEach((observation, agent) => {
      const ours = seen[field].subarray(agent * size, (agent + 1) * size);
      expectNear(dense(observation, size), ours, 1e-6, `observation of ${game.agents[agent]} after ${where}`);
    });
  });
  expectNear(recorded.returns, sums, 1e-6 * recorded.actions.length, 'returns');
  for (const { name, sums } of infos) expectNear(recorded.infos[name], sums, 1e-6, `sums of ${name}`);
}

/** As a list of at least `size` numbers: what a shorter one lacks is 0. */
function dense(observation: readonly number[] | Sparse, size: number): number[] {
  if (!('places' in observation)) return [...observation, ...new Array<number>(size - observation.length).fill(0)];
  const values = new Array<number>(observation.size).fill(0);
  observation.places.forEach((place, i) => {
    values[place] = observation.values[i];
  });
  return values;
}

/** Differences are relative for values above 1, as the rounding of float32 is. */
function expectNear(recorded: readonly number[], ours: ArrayLike<number>, tolerance: number, what: string): void {
  expect(ours.length, what).toBe(recorded.length);
  // A finding in words is cheaper than an expectation for each number.
  const odd = recorded.findIndex(
    (value, i) => !(Math.abs(ours[i] - value) <= tolerance * Math.max(1, Math.abs(value))),
  );
  expect(odd < 0 ? 'equal' : `value ${odd} is ${ours[odd]} instead of ${recorded[odd]}`, what).toBe('equal');
}
