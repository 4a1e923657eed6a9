import { fail, show } from '@coplay/core';
import { checkNumber, checkNumbers, checkRecord } from '@coplay/core/checks';
import { checkLogits } from './check-logits';
import { type IteratedGame, MEMORIES } from './iterated-game';
import { dot, inverse } from './linear-algebra';

/** What {@link iteratedGradients} finds. */
export interface IteratedGradients {
  /** Each player's discounted sum of payoffs, V_i. */
  readonly values: readonly [number, number];
  /** gradients[i][j]: [5] the gradient of V_i by the parameters of player j */
  readonly gradients: readonly [readonly [Float64Array, Float64Array], readonly [Float64Array, Float64Array]];
  /**
   * mixed[i]: [5, 5] the second derivatives of V_i, row s: parameter s of player 0, column u: parameter u of player 1
   */
  readonly mixed: readonly [Float64Array, Float64Array];
}

/** The state in which a game begins; 0..3 are the last pair of actions, 2 a + b. */
const START = 4;

/**
 * How likely the next pairs of actions are in one state, [4], and the derivatives by each player's parameter there, and
 * by both.
 */
interface Row {
  readonly chances: Float64Array;
  readonly by: readonly [Float64Array, Float64Array];
  readonly byBoth: Float64Array;
}

/**
 * Values of two memory-one policies in an iterated matrix game, and their exact derivatives (Foerster et al. 2018).
 * With P the chances [4, 4] of the next pair of actions, p the chances of the first pair and r the payoffs,
 *
 *   V = p (I - g P)^-1 r.
 *
 * Parameter s of a player is the logit of its action 0 after round s, as it sees it itself: 2 own + other, or 4 at the
 * start.
 *
 * @param first   [5] of player 0
 * @param second  [5] of player 1
 */
export function iteratedGradients(game: IteratedGame, first: Float64Array, second: Float64Array): IteratedGradients {
  checkRecord('iteratedGradients', 'game', game);
  const { payoffs, discount } = game;
  if (!Array.isArray(payoffs) || payoffs.length !== 2) {
    fail(
      'iteratedGradients: game.payoffs',
      'payoffs of two players',
      show(payoffs),
      'Make the game with iteratedGame().',
    );
  }
  for (const own of payoffs) checkNumbers('iteratedGradients', 'game.payoffs', own, { length: 4 });
  checkNumber('iteratedGradients', 'game.discount', discount, { min: 0, below: 1 });
  checkLogits('iteratedGradients: first', first, MEMORIES);
  checkLogits('iteratedGradients: second', second, MEMORIES);
  const rows = Array.from({ length: MEMORIES }, (_, state) => rowOf(first, second, state));
  const visits = inverse(4, (s, u) => (s === u ? 1 : 0) - discount * rows[s].chances[u]); // M = (I - g P)^-1
  const column = (u: number) => Float64Array.from({ length: 4 }, (_, s) => visits[s * 4 + u]);
  const columns = [0, 1, 2, 3].map(column);
  // How much a change of what follows a state matters: 1 at the start, then g times how often the state is visited.
  const weights = [...columns.map((visit) => discount * dot(rows[START].chances, visit)), 1];
  const judged = payoffs.map((payoff) => judge({ rows, columns, weights, discount }, payoff));
  return {
    values: [judged[0].value, judged[1].value],
    gradients: [judged[0].gradients, judged[1].gradients],
    mixed: [judged[0].mixed, judged[1].mixed],
  };
}

interface Chain {
  readonly rows: readonly Row[];
  /** [4] columns of M, [4] each */
  readonly columns: readonly Float64Array[];
  readonly weights: readonly number[];
  readonly discount: number;
}

function judge({ rows, columns, weights, discount }: Chain, payoff: Float64Array) {
  const after = new Float64Array(4); // v = M r, with the payoff of the round itself
  columns.forEach((visit, u) => {
    for (let s = 0; s < 4; s++) after[s] += visit[s] * payoff[u];
  });
  const gradients: [Float64Array, Float64Array] = [new Float64Array(MEMORIES), new Float64Array(MEMORIES)];
  const mixed = new Float64Array(MEMORIES * MEMORIES);
  for (let s = 0; s < MEMORIES; s++) {
    const own = rows[s].by[0];
    gradients[0][s] = weights[s] * dot(own, after);
    gradients[1][ownSide(s)] = weights[s] * dot(rows[s].by[1], after);
    for (let u = 0; u < MEMORIES; u++) {
      const other = rows[u].by[1];
      // dv / du = g M[., u] (dP[u] v), and d weight_s / du = g weight_u dP[u] M[., s]: nothing leads back to the start.
      const laterValues = u === START ? 0 : weights[s] * discount * dot(own, columns[u]) * dot(other, after);
      const laterWeights = s === START ? 0 : discount * weights[u] * dot(other, columns[s]) * dot(own, after);
      const both = s === u ? weights[s] * dot(rows[s].byBoth, after) : 0;
      mixed[s * MEMORIES + ownSide(u)] = both + laterValues + laterWeights;
    }
  }
  return { value: dot(rows[START].chances, after), gradients, mixed };
}

function rowOf(first: Float64Array, second: Float64Array, state: number): Row {
  const [a, b] = [sigmoid(first[state]), sigmoid(second[ownSide(state)])];
  const [da, db] = [a * (1 - a), b * (1 - b)];
  return {
    chances: Float64Array.of(a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)),
    by: [
      Float64Array.of(da * b, da * (1 - b), -da * b, -da * (1 - b)),
      Float64Array.of(a * db, -a * db, (1 - a) * db, -(1 - a) * db),
    ],
    byBoth: Float64Array.of(da * db, -da * db, -da * db, da * db),
  };
}

/** A state as player 1 numbers it, with its own action first. */
function ownSide(state: number): number {
  return state === 1 || state === 2 ? 3 - state : state;
}

/** 1 / (1 + e^-x) */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
