import { checkNumbers, fail } from '@coplay/core';

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
