import { readFileSync } from 'node:fs';
import { type ActionArray, type AnyGame, createGenerator } from '@coplay/core';
import { actionLayout, allocateObservations, allocateStepArrays } from '@coplay/core/arrays';
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

/** The episodes that were recorded of a game, by name. */
export function recordedCases(name: string): [string, Recorded][] {
  const path = new URL(`./data/${name}-golden.json`, import.meta.url);
  return Object.entries((JSON.parse(readFileSync(path, 'utf8')) as { cases: Record<string, Recorded> }).cases);
}

/**
 * Plays a recorded episode with our game, and expects the same states, rewards, observations and ends.
 *
 * @param options.field        the observation's field that is compared
 * @param options.state        how far numbers of a state may be apart
 * @param options.write        writes a recorded state. Default: its numbers are the first ones of ours
 * @param options.read         the numbers of our state that are compared, in the order of the recording
 * @param options.terminates   whether our last step terminates; default: as recorded
 */
export function expectSameEpisode(
  game: AnyGame,
  recorded: Recorded,
  options: {
    readonly field: string;
    readonly state: number;
    readonly write?: (start: readonly number[], state: Float64Array | Int32Array) => void;
    readonly read?: (state: Float64Array | Int32Array) => readonly number[];
    readonly terminates?: boolean;
  },
): void {
  const { field, write = (start, state) => state.set(start), read = (state) => Array.from(state) } = options;
  const { terminates = recorded.terminated } = options;
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
  write(recorded.start, state);
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
      expect(result.terminated[agent] === 1, `terminated in step ${t + 1}`).toBe(isLast && terminates);
      const truncates = isLast && (recorded.truncated || recorded.terminated !== terminates);
      expect(result.truncated[agent] === 1, `truncated in step ${t + 1}`).toBe(truncates);
    }
    const step = byStep.get(t + 1);
    if (!step) return;
    const where = `step ${t + 1}`;
    const now = read(state);
    expectNear([...step.state], now.slice(0, step.state.length), options.state, `state after ${where}`);
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
