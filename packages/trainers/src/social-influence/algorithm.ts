/*
 * Social influence as intrinsic motivation (Jaques et al. 2019), top to bottom: the rollout from which models of the
 * next action learn, the influence of one action, and the influence of a seat's actions over a rollout. Shapes: E
 * environments, T steps, A agents, B rows, K actions.
 */
import { type Experience, fail, type ObservationArrays } from '@coplay/core';
import { allocateObservations, copyObservation, copyRow, sizeOf } from '@coplay/core/arrays';
import { checkNumbers } from '@coplay/core/checks';
import { paddedCount } from '@coplay/core/rows';
import type { MoaLearner } from '../moa';

/** A rollout for models of the next step, and the part that the following rollout needs. */
export interface Delayed {
  readonly experience: Experience;
  /** [E, A, ...] the observations in the last step */
  readonly last: ObservationArrays;
}

/**
 * The same rollout with each step's observations replaced by those of the step before, and with every action legal:
 * together with the previous actions of all agents, a model learns p(a_t+1 | s_t, a_t) from it, which can be evaluated
 * on counterfactual actions. The next observation would reveal the real action, and so would the next mask. First steps
 * of episodes stay as they are.
 *
 * @param before  [E, A, ...] the observations in the last step of the previous rollout; undefined at the beginning
 */
export function delayed(experience: Experience, before: ObservationArrays | undefined): Delayed {
  const { envs, steps, agents, observation, isFirst, masks } = experience;
  const observations: ObservationArrays = {};
  const last: ObservationArrays = {};
  for (const [name, { shape }] of Object.entries(observation)) {
    const seen = experience.observations[name];
    const size = agents.length * sizeOf(shape);
    const shifted = seen.slice();
    const kept = seen.slice(0, envs * size);
    for (let e = 0; e < envs; e++) {
      copyRow(seen, (e + 1) * steps - 1, kept, e, size);
      if (before && isFirst[e * steps] === 0) copyRow(before[name], e, shifted, e * steps, size);
      for (let step = e * steps + 1; step < (e + 1) * steps; step++) {
        if (isFirst[step] === 0) copyRow(seen, step - 1, shifted, step, size);
      }
    }
    observations[name] = shifted;
    last[name] = kept;
  }
  return { experience: { ...experience, observations, masks: new Uint8Array(masks.length).fill(1) }, last };
}

/**
 * How much an agent's action changes another agent's expected next action (causal influence; Jaques et al. 2019, eq.
 * 1): the divergence of the prediction given the action from the prediction averaged over the agent's own policy,
 *
 *   KL( p(. | a) || sum_b pi(b) p(. | b) )
 *
 * @param predictions  [B, K, K] p(next action of the other | own action): one line for each own action; lines of
 *                     actions with pi = 0 aren't read
 * @param policy       [B, K] pi, the chances of own actions
 * @param actions      [B] the own action a; its probability must not be 0
 * @returns [B] nats, 0 to -ln pi(a)
 */
export function actionInfluence(
  predictions: Float32Array | Float64Array,
  policy: Float32Array | Float64Array,
  actions: Int32Array,
): Float64Array {
  checkNumbers('actionInfluence', 'predictions', predictions, { nan: true });
  checkNumbers('actionInfluence', 'policy', policy, { nan: true });
  checkNumbers('actionInfluence', 'actions', actions);
  const B = actions.length;
  const K = policy.length / Math.max(1, B);
  if (!Number.isInteger(K) || predictions.length !== B * K * K) {
    const got = `${predictions.length} predictions and ${policy.length} chances for ${B} actions`;
    fail('actionInfluence', 'predictions [B, K, K], policy [B, K], actions [B]', got, 'Give all for the same rows.');
  }
  checkNumbers('actionInfluence', 'actions', actions, { whole: true, min: 0, max: K - 1 });
  return Float64Array.from(actions, (action, row) => {
    let divergence = 0;
    for (let next = 0; next < K; next++) {
      const chance = predictions[(row * K + action) * K + next];
      if (chance > 0) divergence += chance * Math.log(chance / marginal(predictions, policy, row, next, K));
    }
    return Math.max(0, divergence); // rounding may leave it a little below
  });
}

/** sum_b pi(b) p(next | b) */
function marginal(
  predictions: ArrayLike<number>,
  policy: ArrayLike<number>,
  row: number,
  next: number,
  K: number,
): number {
  let sum = 0;
  for (let own = 0; own < K; own++) {
    const chance = policy[row * K + own];
    if (chance > 0) sum += chance * predictions[(row * K + own) * K + next];
  }
  return sum;
}

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
