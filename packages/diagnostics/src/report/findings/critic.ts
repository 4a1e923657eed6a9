import { apart, type Finding, figure, greatest, highest, type Subject, valuesOf } from './finding';

/** An error above this many times the largest squared return isn't that of a critic on sound data. */
const TOLERANCE = 1.5;
/** The gravest first. A model's data obey the game's bounds as well. */
const ERRORS = ['value/mse', 'imagined/value_mse'];

/**
 * A critic that starts near 0 is never farther from returns than the largest of them, so that its squared error stays below the square. Returns are
 * taken from what was lived through: whole episodes' and single rewards, never from targets, which may be wrong themselves.
 */
export function inflatedCritic(subject: Subject): Finding[] {
  const names = ['episode/return', 'episode/return_mean', 'real/episode_return_max', 'real/episode_return_min'];
  const returns = Math.max(...names.map((name) => greatest(subject, name)));
  const largest = Math.max(returns, largestReward(subject));
  if (largest === 0) return [];
  const worst = ERRORS.map((metric) => worstOf(subject, metric)).find(({ error }) => error > TOLERANCE * largest ** 2);
  if (!worst) return [];
  const whose = worst.agent ? ` of ${worst.agent}` : '';
  return [
    {
      check: 'inflated-critic',
      // A model may know of a payment that nobody has lived through yet.
      level: worst.metric === 'value/mse' ? 'fault' : 'warning',
      title: 'The critic is inflated',
      finding: `${worst.metric}${whose} reaches ${figure(worst.error)}, but returns are at most ${figure(largest)}: a critic near 0 would have ${figure(largest ** 2)} at most.`,
      advice: imagines(subject)
        ? "Imagined data are the first suspect: an immature world model invents rewards, and sums over a long horizon reach the critic's targets. Compare imagined/reward_max and imagined/return_mean with what is real, wait longer before imagining (minAccuracy, startUpdates), or let imagined data teach the actor only (imaginedCritic: 'real-only')."
        : "Suspect the data: another agent's rewards, a sum over agents in the place of a mean, returns that run on into the next episode. Look at return/max and reward/max.",
      command: 'npm run study -- value-loss',
      runs: [subject.name],
      metrics: ['value/mse', 'imagined/value_mse', 'return/max', 'imagined/return_mean'],
    },
  ];
}

function worstOf(subject: Subject, metric: string): { metric: string; agent: string; error: number } {
  const errors = apart(valuesOf(subject, metric)).map(([agent, curve]) => ({ metric, agent, error: highest(curve) }));
  return errors.reduce((a, b) => (b.error > a.error ? b : a), { metric, agent: '', error: 0 });
}

/** Imagined rewards that the game can't pay. */
export function invented(subject: Subject): Finding[] {
  const real = largestReward(subject);
  const found = apart(valuesOf(subject, 'imagined/reward_max'));
  const imagined = Math.max(0, ...found.map(([, { values }]) => Math.max(...values)));
  if (real === 0 || imagined <= 1.05 * real + 1e-6) return [];
  return [
    {
      check: 'invented-rewards',
      level: 'warning',
      title: 'Imagined rewards are above real ones',
      finding: `A single imagined step pays up to ${figure(imagined)}, a real one up to ${figure(real)} so far.`,
      advice:
        'Either nobody has lived through the best outcome yet, or the world model invents it. If it stays so while real rewards are at their best, train the model more before it is trusted, or let it keep the rules of the game for rewards.',
      command: 'npm run study -- world-model',
      runs: [subject.name],
      metrics: ['imagined/reward_max', 'reward/max'],
    },
  ];
}

function largestReward(subject: Subject): number {
  return Math.max(
    greatest(subject, 'reward/max'),
    greatest(subject, 'reward/min'),
    greatest(subject, 'real/reward_max'),
  );
}

function imagines(subject: Subject): boolean {
  return greatest(subject, 'data/imagined_rows') > 0 || greatest(subject, 'imagined/horizon') > 0;
}
