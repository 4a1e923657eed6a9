/** [P][P] how often the row won against the column; a draw counts half for each. */
export type PairScores = readonly ArrayLike<number>[];

/** Rounds at most; each takes a pass over all pairs. */
const ROUNDS = 10_000;
const TOLERANCE = 1e-10;

/**
 * Strengths of P players by the model of Bradley and Terry (1952), in which i wins against j with probability
 * s_i / (s_i + s_j). The maximum of the likelihood, by Hunter's (2004) minorisation: each round sets s_i to
 * w_i / sum_j (n_ij / (s_i + s_j)), where w_i are the wins of i and n_ij the meetings of i and j. The strengths have a
 * geometric mean of 1.
 *
 * Finite where every two groups of players won and lost against each other, as with an imagined draw in each pair.
 *
 * @returns [P]
 */
export function bradleyTerry(players: number, wins: PairScores): Float64Array {
  let strengths = new Float64Array(players).fill(1);
  for (let round = 0; round < ROUNDS; round++) {
    const next = strengths.map((own, i) => {
      let won = 0;
      let expected = 0;
      for (let j = 0; j < players; j++) {
        if (j === i) continue;
        won += wins[i][j];
        expected += (wins[i][j] + wins[j][i]) / (own + strengths[j]);
      }
      return expected === 0 ? own : won / expected;
    });
    const scale = Math.exp(next.reduce((sum, one) => sum + Math.log(one), 0) / players);
    for (let i = 0; i < players; i++) next[i] /= scale;
    const change = next.reduce((most, one, i) => Math.max(most, Math.abs(Math.log(one / strengths[i]))), 0);
    strengths = next;
    if (change < TOLERANCE) break;
  }
  return strengths;
}
