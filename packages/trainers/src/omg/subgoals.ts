import { type Experience, fail, type Generator, show } from '@coplay/core';
import { allocateObservations, copyObservation, copyRow, isLastStep, sizeOf } from '@coplay/core/arrays';
import { paddedCount, padRows } from '@coplay/core/rows';
import { selectSubgoals } from '@coplay/models/omg';
import { encodeViews } from './rows';
import type { OmgNetwork, OmgSetup } from './setup';

/** How {@link OmgLearner.subgoalsOf} mixes selected and inferred subgoals. */
export interface SubgoalsOfOptions {
  /** [E, T, A] values of the states, for selectors that go by value */
  readonly values?: Float32Array;
  /** Chance that a step gets its selected subgoals, in [0, 1]; the agent lets it fall to 0 */
  readonly epsilon: number;
  /** For the choice by epsilon, and for the selector `random` */
  readonly generator: Generator;
  /**
   * Name of the extra that holds the subgoals that were inferred while acting, [E, T, A, (A-1) D]. Default `subgoals`
   */
  readonly extra?: string;
}

/** What {@link OmgLearner.subgoalsOf} returns. */
export interface MixedSubgoals {
  /** [E, T, (A-1) D] of the observer: inputs of its policy when it learns */
  readonly subgoals: Float32Array;
  /**
   * [E, T] 1 where they are the selected ones: other inputs than the policy had, so its old log-probabilities and
   * values there are to be computed anew
   */
  readonly replaced: Uint8Array;
}

/** A step whose subgoal is another state's latent: rows e T + t of the experience. */
interface Replacement {
  readonly row: number;
  readonly coPlayer: number;
  readonly selected: number;
}

/** See {@link OmgLearner.subgoalsOf}. */
export async function mixSubgoals(
  setup: OmgSetup,
  network: OmgNetwork,
  experience: Experience,
  options: SubgoalsOfOptions,
): Promise<MixedSubgoals> {
  const { seat, others, settings } = setup;
  const { epsilon, generator } = options;
  const subgoals = inferredSubgoals(setup, experience, options);
  const rows = experience.envs * experience.steps;
  const replaced = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) replaced[row] = generator.uniform() < epsilon ? 1 : 0;
  const count = experience.agents.length;
  const isThere = (row: number, who: number) => experience.active[row * count + who] === 1;
  const chosen: Replacement[] = [];
  others.forEach((other, coPlayer) => {
    const selected = selectedRows(setup, experience, other, options);
    for (let row = 0; row < rows; row++) {
      if (replaced[row] === 0 || !isThere(row, seat) || !isThere(row, other)) continue;
      chosen.push({ row, coPlayer, selected: selected[row] });
    }
  });
  replaced.fill(0);
  for (const { row } of chosen) replaced[row] = 1;
  const latents = await encodeStates(setup, network, experience, chosen);
  const { goalDim } = settings;
  chosen.forEach(({ row, coPlayer }, i) => {
    copyRow(latents, i, subgoals, row * others.length + coPlayer, goalDim);
  });
  return { subgoals, replaced };
}

/** [E, T, (A-1) D] the frozen prior's latents of the states themselves; zeros where the co-player wasn't there. */
export async function stateLatents(
  setup: OmgSetup,
  network: OmgNetwork,
  experience: Experience,
): Promise<Float32Array> {
  const { others, settings } = setup;
  const rows = experience.envs * experience.steps;
  const chosen: Replacement[] = [];
  for (let row = 0; row < rows; row++) {
    others.forEach((other, coPlayer) => {
      if (experience.active[row * experience.agents.length + other] === 1)
        chosen.push({ row, coPlayer, selected: row });
    });
  }
  const latents = await encodeStates(setup, network, experience, chosen);
  const all = new Float32Array(rows * others.length * settings.goalDim);
  chosen.forEach(({ row, coPlayer }, i) => {
    copyRow(latents, i, all, row * others.length + coPlayer, settings.goalDim);
  });
  return all;
}

/** A copy of the subgoals that the observer recorded while it acted; zeros where there was nothing (it had left). */
export function inferredSubgoals(
  { seat, others, settings, id }: OmgSetup,
  experience: Experience,
  { extra = 'subgoals' }: Pick<SubgoalsOfOptions, 'extra'>,
): Float32Array {
  const { envs, steps, agents, extras } = experience;
  const width = others.length * settings.goalDim;
  const subgoals = new Float32Array(envs * steps * width);
  if (width === 0) return subgoals;
  const recorded = extras[extra];
  const shape = [envs, steps, agents.length, width];
  if (recorded?.data.length !== sizeOf(shape)) {
    const remedy = 'Let the agent give the subgoals that it acted with as an extra of its output.';
    fail(`OMG (${id}): subgoalsOf`, `the extra ${extra} [${shape}]`, show(recorded?.shape), remedy);
  }
  for (let row = 0; row < envs * steps; row++) {
    if (experience.active[row * agents.length + seat] === 0) continue;
    const from = (row * agents.length + seat) * width;
    subgoals.set(recorded.data.subarray(from, from + width), row * width);
  }
  return subgoals;
}

/** [E T] the row of each step's selected state; only valid for steps in which the co-player was present. */
function selectedRows(
  { seat, settings }: OmgSetup,
  experience: Experience,
  other: number,
  { values, generator }: SubgoalsOfOptions,
): Int32Array {
  const { active, agents } = experience;
  const ends = endsOf(experience, other);
  const judge = settings.valuesOf === 'observer' ? seat : other;
  const judged = Float32Array.from(ends, (_, row) => {
    const at = row * agents.length + judge;
    return active[at] === 1 && values ? values[at] : Number.NaN;
  });
  const isByValue = settings.selector === 'optimistic' || settings.selector === 'conservative';
  if (isByValue && values?.length !== active.length) {
    fail(
      'subgoalsOf',
      `${active.length} values for ${settings.selector}`,
      show(values),
      'Give the values of all states.',
    );
  }
  const draws = settings.selector === 'random' ? Float32Array.from(ends, () => generator.uniform()) : [];
  return selectSubgoals(settings.selector, settings.horizon, { ends, values: judged, draws });
}

/**
 * [E T] the first row behind the steps of its episode in which the agent was there; behind the step itself where it
 * wasn't.
 */
function endsOf(experience: Experience, seat: number): Int32Array {
  const { envs, steps, lengths, active, agents } = experience;
  const ends = new Int32Array(envs * steps);
  for (let row = ends.length - 1; row >= 0; row--) {
    const isLast = (row % steps) + 1 >= lengths[Math.floor(row / steps)] || isLastStep(experience, row);
    const goesOn = !isLast && active[(row + 1) * agents.length + seat] === 1;
    ends[row] = goesOn ? ends[row + 1] : row + 1;
  }
  return ends;
}

/** [chosen, D] the frozen prior's latents of the selected states, in the co-player's view or the observer's. */
async function encodeStates(
  setup: OmgSetup,
  network: OmgNetwork,
  experience: Experience,
  chosen: readonly Replacement[],
): Promise<Float32Array> {
  if (chosen.length === 0) return new Float32Array(0);
  const { game, seat, others, settings } = setup;
  const count = experience.agents.length;
  const views = {
    observations: allocateObservations(game.observation, chosen.length),
    masks: new Uint8Array(chosen.length * game.actions),
    previousActions: new Int32Array(chosen.length * count),
  };
  chosen.forEach(({ coPlayer, selected }, i) => {
    const seer = settings.view === 'other' ? others[coPlayer] : seat;
    const from = selected * count + seer;
    copyObservation(game.observation, experience.observations, from, views.observations, i);
    copyRow(experience.masks, from, views.masks, i, game.actions);
    for (let k = 0; k < count; k++) {
      views.previousActions[i * count + k] = experience.previousActions[selected * count + ((seer + k) % count)];
    }
  });
  const inputs = encodeViews(setup, views, chosen.length, (row) => chosen[row].coPlayer);
  const { mean } = await network.functions.encode(padRows(inputs, paddedCount(chosen.length)));
  return mean.data as Float32Array;
}
