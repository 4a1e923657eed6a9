import { type ArrayOf, checkGame, type DType, fail, type Game, show } from '@coplay/core';
import { checkArgument, checkCount, typedArrays } from '@coplay/core/checks';

/**
 * Opponent modelling within an episode (intra-OM; Huang et al. 2024, eq. 3): b'(g) is proportional to b(g) Pr(a | s,
 * g), Bayes' rule for one action. A goal that can't be reached any more gets 0; where no probability is left, all goals
 * that can still be reached are equally likely.
 *
 * @param beliefs      [B, G]; each row sums to 1, or to 0 when nothing is known
 * @param likelihoods  [B, G] Pr(a | s, g) of the action that was taken, at least 0
 * @param open         [B, G] 1 where the goal can still be reached
 * @param goals        G
 * @param out          [B, G] may be `beliefs`. Default: a new array
 * @returns [B, G] each row sums to 1, or to 0 where no goal is open
 */
export function updateBeliefs(
  beliefs: Float64Array,
  likelihoods: Float64Array | Float32Array,
  open: Uint8Array,
  goals: number,
  out: Float64Array = new Float64Array(beliefs?.length ?? 0),
): Float64Array {
  checkArgument('updateBeliefs', 'beliefs', typedArrays('float64'), beliefs);
  checkArgument('updateBeliefs', 'likelihoods', typedArrays('float64', 'float32'), likelihoods);
  checkArgument('updateBeliefs', 'open', typedArrays('uint8'), open);
  checkArgument('updateBeliefs', 'out', typedArrays('float64'), out);
  checkLengths('updateBeliefs', { beliefs, likelihoods, open, out }, goals);
  checkOpen('updateBeliefs: beliefs', beliefs, open);
  checkOpen('updateBeliefs: likelihoods', likelihoods, open);
  return applyBayes(beliefs, likelihoods, open, goals, out);
}

/** {@link updateBeliefs} without checks. */
export function applyBayes(
  beliefs: Float64Array,
  likelihoods: Float64Array | Float32Array,
  open: Uint8Array,
  goals: number,
  out: Float64Array,
): Float64Array {
  for (let from = 0; from < beliefs.length; from += goals) {
    for (let i = from; i < from + goals; i++) out[i] = open[i] === 1 ? beliefs[i] * likelihoods[i] : 0;
    normaliseOpen(out, open, from, goals);
  }
  return out;
}

/**
 * Makes G numbers sum to 1, and equal among the open goals where they sum to nothing; all are 0 where no goal is open.
 *
 * @param beliefs  [G] from `from` on, 0 where the goal isn't open
 */
export function normaliseOpen(beliefs: Float64Array, open: Uint8Array, from: number, goals: number): void {
  let largest = 0;
  let count = 0;
  for (let i = from; i < from + goals; i++) {
    largest = Math.max(largest, beliefs[i]);
    count += open[i];
  }
  // Divided by the largest first: products of many small numbers would lose their digits.
  let sum = 0;
  for (let i = from; i < from + goals; i++) {
    beliefs[i] = largest > 0 ? beliefs[i] / largest : open[i];
    sum += beliefs[i];
  }
  if (count === 0) return;
  for (let i = from; i < from + goals; i++) beliefs[i] /= sum;
}

/**
 * Which goals can still be reached in B states: [B, G], 1 for those; all, where the goals have no `isOpen`.
 *
 * @throws CoplayError for a game without goals
 */
export function openGoals(game: Game, states: ArrayOf<DType>, rows: number): Uint8Array {
  checkGame('openGoals', game);
  const { goals } = game;
  if (!goals) {
    const remedy = 'Give the game goals ("Goals" in docs/writing-an-environment.md), or beliefs of your own.';
    fail('openGoals', 'a game with goals', game.name, remedy);
  }
  checkArgument('openGoals', 'states', typedArrays(game.stateType), states);
  checkCount('openGoals', 'rows', rows);
  if (states.length < rows * game.stateSize) {
    fail('openGoals: states', `${rows} states of ${game.stateSize} values`, show(states), 'Give all of them.');
  }
  const G = goals.names.length;
  const open = new Uint8Array(rows * G).fill(1);
  if (!goals.isOpen) return open;
  for (let i = 0; i < rows * G; i++) {
    open[i] = goals.isOpen(i % G, states, Math.floor(i / G) * game.stateSize) ? 1 : 0;
  }
  return open;
}

/**
 * Pr(a | s, g) of actions that were taken.
 *
 * @param logProbs  [B, G, K] log-probabilities under each goal, at most 0
 * @param actions   [B] in 0..K-1; -1 for none, with a likelihood of 1
 * @param goals     G
 * @returns [B, G]
 */
export function goalLikelihoods(logProbs: Float32Array, actions: Int32Array, goals: number): Float64Array {
  checkArgument('goalLikelihoods', 'logProbs', typedArrays('float32'), logProbs);
  checkArgument('goalLikelihoods', 'actions', typedArrays('int32'), actions);
  checkCount('goalLikelihoods', 'goals', goals);
  const K = logProbs.length / (actions.length * goals);
  if (!Number.isInteger(K)) {
    const expected = `[${actions.length}, ${goals}, K] log-probabilities`;
    fail('goalLikelihoods', expected, `${logProbs.length} numbers`, 'Give K for every goal of every row.');
  }
  return Float64Array.from({ length: actions.length * goals }, (_, i) => {
    const action = actions[Math.floor(i / goals)];
    if (action < 0) return 1;
    const logProb = logProbs[i * K + action];
    if (logProb <= ROUNDING) return Math.exp(logProb);
    const where = `goalLikelihoods: logProbs at index ${i * K + action}`;
    return fail(where, 'a log-probability, at most 0', String(logProb), 'Normalise logits, and look for NaN.');
  });
}

/** Largest log-probability that counts as rounded from 0. */
const ROUNDING = 1e-3;

/** Refuses NaN, infinite and negative numbers of open goals. */
function checkOpen(where: string, numbers: Float64Array | Float32Array, open: Uint8Array): void {
  for (let i = 0; i < numbers.length; i++) {
    if (open[i] !== 1 || (numbers[i] >= 0 && numbers[i] < Number.POSITIVE_INFINITY)) continue;
    fail(where, `a number, at least 0, at index ${i}`, String(numbers[i]), 'Give probabilities.');
  }
}

/** Refuses arrays of other lengths than the first, and lengths that aren't whole rows. */
function checkLengths(where: string, arrays: Readonly<Record<string, ArrayLike<number>>>, goals: number): void {
  const [[first, { length }], ...others] = Object.entries(arrays);
  if (!(Number.isInteger(goals) && goals >= 1) || length % goals !== 0) {
    fail(where, `${first} [B, ${show(goals)}]`, `${length} numbers`, 'Give G numbers for each row.');
  }
  for (const [name, array] of others) {
    if (array.length !== length)
      fail(where, `${name} of ${length} numbers, as ${first}`, String(array.length), 'Give G for each row.');
  }
}
