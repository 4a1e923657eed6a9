import {
  createGenerator,
  type Experience,
  type ObservationField,
  type Simulator,
  startsFrom,
  streamSeed,
} from '@coplay/core';
import { allocateObservations, sizeOf } from '@coplay/core/arrays';

/** How well a simulator plays the steps of held-out episodes. */
export interface ModelQuality {
  /** Share of joint transitions of which all observations, legal actions and ends are right. */
  readonly exact: number;
  /** The same of the last state after `HORIZON` steps with the true actions, open loop. */
  readonly openLoop: number;
  /** Share of the actions that the simulator allows after a step which the rules don't. */
  readonly illegal: number;
  /** Mean absolute error of a step's rewards. */
  readonly rewardError: number;
}

/** Steps of the open loop. */
export const HORIZON = 10;
/** Starts that are compared. */
const STARTS = 512;
/** Floats this near to each other are equal. */
const TOLERANCE = 0.05;

/** Compares a simulator's steps with the rules' where `HORIZON` steps of an episode follow. */
export async function modelQuality(
  simulator: Simulator,
  experience: Experience,
  seed: number,
): Promise<ModelQuality | null> {
  const all = startsOf(experience);
  if (all.length === 0) return null;
  const generator = createGenerator(streamSeed(seed, 'any-game/starts'));
  const starts = Int32Array.from({ length: STARTS }, () => all[generator.integer(all.length)]);
  const A = experience.agents.length;
  const { states } = startsFrom(simulator, experience, starts);
  const actions = new Int32Array(STARTS * A);
  const result = {
    rewards: new Float32Array(STARTS * A),
    terminated: new Uint8Array(STARTS * A),
    truncated: new Uint8Array(STARTS * A),
    infos: Object.fromEntries(simulator.game.infos.map((name) => [name, new Float32Array(STARTS * A)])),
  };
  let exact = 0;
  let illegal = 0;
  let rewardError = 0;
  for (let k = 0; k < HORIZON; k++) {
    starts.forEach((start, row) => {
      actions.set(experience.actions.subarray((start + k) * A, (start + k + 1) * A), row * A);
    });
    await simulator.step(states, actions, generator, result);
    if (k > 0) continue;
    exact = shareExact(simulator, experience, starts, 1, states);
    illegal = shareIllegal(simulator, experience, starts, states);
    starts.forEach((start, row) => {
      for (let a = 0; a < A; a++) {
        rewardError += Math.abs(result.rewards[row * A + a] - experience.rewards[start * A + a]) / (STARTS * A);
      }
    });
  }
  return { exact, openLoop: shareExact(simulator, experience, starts, HORIZON, states), illegal, rewardError };
}

/** Steps e T + t after which an episode goes on for `HORIZON` steps that were recorded. */
function startsOf({ envs, steps, ended }: Experience): number[] {
  const starts: number[] = [];
  for (let e = 0; e < envs; e++) {
    for (let t = 0; t + HORIZON < steps; t++) {
      const step = e * steps + t;
      if (ended.subarray(step, step + HORIZON).every((value) => value === 0)) starts.push(step);
    }
  }
  return starts;
}

type States = Parameters<Simulator['step']>[0];

/** Share of the starts whose simulated state, `k` steps later, looks as the real one does to each agent that plays. */
function shareExact(simulator: Simulator, experience: Experience, starts: Int32Array, k: number, states: States) {
  const { game } = simulator;
  const A = game.agents.length;
  const seen = allocateObservations(game.observation, 1);
  const mask = new Uint8Array(game.actions);
  const fields = Object.entries(game.observation).map(([name, field]) => ({ name, field, size: sizeOf(field.shape) }));
  const isRight = (step: number, offset: number) => {
    for (let a = 0; a < A; a++) {
      const row = (step + k) * A + a;
      if (Number(game.isActive(states, offset, a)) !== experience.active[row]) return false;
      if (experience.active[row] === 0) continue;
      game.observe(states, offset, a, seen, 0);
      game.legal(states, offset, a, mask, 0);
      if (!fields.every(({ name, field, size }) => agree(field, seen[name], experience.observations[name], row * size)))
        return false;
      if (mask.some((value, action) => value !== experience.masks[row * game.actions + action])) return false;
    }
    return true;
  };
  let right = 0;
  starts.forEach((step, row) => {
    if (isRight(step, row * game.stateSize)) right++;
  });
  return right / starts.length;
}

function agree({ dtype }: ObservationField, simulated: ArrayLike<number>, real: ArrayLike<number>, from: number) {
  const tolerance = dtype === 'float32' ? TOLERANCE : 0;
  for (let i = 0; i < simulated.length; i++) if (Math.abs(simulated[i] - real[from + i]) > tolerance) return false;
  return true;
}

function shareIllegal(simulator: Simulator, experience: Experience, starts: Int32Array, states: States): number {
  const { game } = simulator;
  const mask = new Uint8Array(game.actions);
  let allowed = 0;
  let wrong = 0;
  starts.forEach((start, row) => {
    for (let a = 0; a < game.agents.length; a++) {
      const at = (start + 1) * game.agents.length + a;
      if (experience.active[at] === 0 || !game.isActive(states, row * game.stateSize, a)) continue;
      game.legal(states, row * game.stateSize, a, mask, 0);
      mask.forEach((value, action) => {
        allowed += value;
        wrong += value === 1 && experience.masks[at * game.actions + action] === 0 ? 1 : 0;
      });
    }
  });
  return allowed === 0 ? 0 : wrong / allowed;
}
