import { type Experience, ndarray } from '@coplay/core';
import { allocateObservations, copyObservation, copyRow } from '@coplay/core/arrays';
import { checkTypedArray } from '@coplay/core/checks';
import { paddedCount, padRows } from '@coplay/core/rows';
import { encodeViews } from './rows';
import type { OmgNetwork, OmgSetup } from './setup';
import { coPlayerViews, type OwnView } from './views';

/** What {@link OmgLearner.infer} returns. */
export interface Inferred {
  /** [B, (A-1) D] */
  readonly subgoals: Float32Array;
  /** [B, (A-1) units] for the next step */
  readonly state: Float32Array;
}

/** See {@link OmgLearner.infer}. */
export async function inferSubgoals(
  setup: OmgSetup,
  network: OmgNetwork,
  own: OwnView,
  state: Float32Array,
): Promise<Inferred> {
  const { game, seat, others, settings, inference, id } = setup;
  const units = inference.stateSize;
  const rows = own.rows * others.length;
  checkTypedArray(`OMG (${id}).infer`, 'state', state, 'float32', rows * units);
  if (rows === 0) return { subgoals: new Float32Array(0), state };
  const views = coPlayerViews(game, own, seat, others, settings.view);
  const entered = state.slice();
  for (let row = 0; row < rows; row++) {
    if (own.isFirst[Math.floor(row / others.length)] === 1) entered.fill(0, row * units, (row + 1) * units);
  }
  const inputs = encodeViews(setup, views, rows, (row) => row % others.length);
  const all = padRows({ ...inputs, state: ndarray(entered, [rows, units]) }, paddedCount(rows));
  const { mean, next } = await network.functions.infer(all);
  const subgoals = (mean.data as Float32Array).subarray(0, rows * settings.goalDim);
  for (let row = 0; row < rows; row++) {
    if (views.active[row] === 0) subgoals.fill(0, row * settings.goalDim, (row + 1) * settings.goalDim);
  }
  return { subgoals, state: (next.data as Float32Array).subarray(0, rows * units) };
}

/** See {@link OmgLearner.inferOver}. */
export async function inferOver(setup: OmgSetup, network: OmgNetwork, experience: Experience): Promise<Float32Array> {
  const { seat, others, settings, inference } = setup;
  const { envs, steps } = experience;
  const width = others.length * settings.goalDim;
  const all = new Float32Array(envs * steps * width);
  let state: Float32Array = new Float32Array(envs * others.length * inference.stateSize);
  for (let t = 0; t < steps; t++) {
    const inferred = await inferSubgoals(setup, network, viewAt(experience, seat, t), state);
    state = inferred.state;
    for (let env = 0; env < envs; env++) copyRow(inferred.subgoals, env, all, env * steps + t, width);
  }
  return all;
}

/** One seat's observations in step t of every environment. */
function viewAt({ envs, steps, agents, ...experience }: Experience, seat: number, t: number): OwnView {
  const count = agents.length;
  const observations = allocateObservations(experience.observation, envs);
  const previousActions = new Int32Array(envs * count);
  const isFirst = new Uint8Array(envs);
  for (let env = 0; env < envs; env++) {
    const step = env * steps + t;
    copyObservation(experience.observation, experience.observations, step * count + seat, observations, env);
    copyRow(experience.previousActions, step, previousActions, env, count);
    isFirst[env] = experience.isFirst[step];
  }
  return { rows: envs, observations, previousActions, isFirst };
}
