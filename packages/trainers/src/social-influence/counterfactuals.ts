import { allocateObservations, copyObservation, type Experience } from '@coplay/core';
import { paddedCount } from '@coplay/core/rows';
import type { MoaLearner } from '../moa';
import { actionInfluence } from './influence';

/** Rows of one call at most. */
const CHUNK = 2048;
/** Fewer are filled up to so many: a few more cost less than another graph to compile. */
const MIN_ROWS = 32;

/**
 * Influence of one seat's actions on all that its models know, summed over the co-players that went on playing: c_t of
 * Jaques et al. 2019.
 *
 * @param moa     models of p(a_t+1 | s_t, a_t), trained on `delayed` experience
 * @param policy  [E T A, K] log-probabilities of the actions when they were chosen, in the rows of the seat
 * @returns [E T] 0 where the agent didn't play, or no other agent did afterwards
 */
export async function influenceOf(
  moa: MoaLearner,
  experience: Experience,
  seat: number,
  policy: Float32Array,
): Promise<Float64Array> {
  const { envs, steps, agents } = experience;
  const total = new Float64Array(envs * steps);
  for (const coPlayer of moa.coPlayers) {
    const other = agents.indexOf(coPlayer);
    const places = placesOf(experience, seat, other);
    const found = await influenceOn(moa, experience, { seat, other, places, policy });
    places.forEach((step, i) => {
      total[step] += found[i];
    });
  }
  return total;
}

/** Steps in which the agent acted and after which the co-player acts again, in the same episode. */
function placesOf(experience: Experience, seat: number, other: number): number[] {
  const { agents, active, terminated, ended, isFirst, steps } = experience;
  const places: number[] = [];
  for (let step = 0; step < ended.length; step++) {
    const isBrokenOff = (step + 1) % steps !== 0 && isFirst[step + 1] === 1;
    const goesOn = active[step * agents.length + other] === 1 && terminated[step * agents.length + other] === 0;
    if (active[step * agents.length + seat] === 1 && goesOn && ended[step] === 0 && !isBrokenOff) places.push(step);
  }
  return places;
}

interface Asked {
  readonly seat: number;
  readonly other: number;
  readonly places: readonly number[];
  readonly policy: Float32Array;
}

async function influenceOn(moa: MoaLearner, experience: Experience, asked: Asked): Promise<Float64Array> {
  const { seat, other, places, policy } = asked;
  const { agents, actionCount: K, actions, masks } = experience;
  const A = agents.length;
  // One question for each thing the agent could have done.
  const questions = places.flatMap((step, i) => {
    const from = (step * A + seat) * K;
    return Array.from({ length: K }, (_, own) => ({ step, own, line: i * K + own })).filter(
      ({ own }) => masks[from + own] === 1,
    );
  });
  const predictions = new Float64Array(places.length * K * K);
  for (let first = 0; first < questions.length; first += CHUNK) {
    const chunk = questions.slice(first, first + CHUNK);
    const logProbs = await moa.predict(agents[other], viewOf(experience, seat, other, chunk));
    chunk.forEach(({ line }, i) => {
      for (let next = 0; next < K; next++) predictions[line * K + next] = Math.exp(logProbs[i * K + next]);
    });
  }
  const chances = new Float64Array(places.length * K);
  places.forEach((step, i) => {
    const from = (step * A + seat) * K;
    for (let own = 0; own < K; own++) chances[i * K + own] = masks[from + own] * Math.exp(policy[from + own]);
  });
  return actionInfluence(
    predictions,
    chances,
    Int32Array.from(places, (step) => actions[step * A + seat]),
  );
}

/** The co-player's observations in some steps, and all actions in them except the agent's own. */
function viewOf(
  experience: Experience,
  seat: number,
  other: number,
  questions: readonly { readonly step: number; readonly own: number }[],
) {
  const { agents, observation, actionCount, actions, active } = experience;
  const A = agents.length;
  const rows = Math.max(MIN_ROWS, paddedCount(questions.length));
  const observations = allocateObservations(observation, rows);
  const previousActions = new Int32Array(rows * A).fill(-1);
  questions.forEach(({ step, own }, row) => {
    copyObservation(observation, experience.observations, step * A + other, observations, row);
    for (let i = 0; i < A; i++) {
      if (active[step * A + i] === 1) previousActions[row * A + i] = i === seat ? own : actions[step * A + i];
    }
  });
  return { rows, observations, masks: new Uint8Array(rows * actionCount).fill(1), previousActions };
}
