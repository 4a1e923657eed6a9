import { apart, type Finding, figure, greatest, highest, late, type Subject, valuesOf } from './finding';

/** An error above this many times the largest squared return isn't that of a critic on sound data. */
const TOLERANCE = 1.5;
/**
 * Imagined steps may pay this many times what real ones pay: up to 1.9 in 16 sound runs of HOP+, 6 to 18 in nine with
 * an immature model.
 */
const TIMES = 3;
/** Share of the late updates that may have an impossible reward: up to 0.56 in the same runs. */
const OFTEN = 0.75;
/** Updates with imagined data before that share is judged. */
const LEAST_UPDATES = 30;
/** The gravest first. A model's data obey the game's bounds as well. */
const ERRORS = ['value/mse', 'imagined/value_mse'];

/**
 * A critic that starts near 0 is never farther from returns than the largest of them, so that its squared error stays
 * below the square. Returns are taken from real experience: from whole episodes and single rewards, never from targets,
 * which may be wrong themselves.
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
      // A model may predict a reward that no agent has received yet.
      level: worst.metric === 'value/mse' ? 'fault' : 'warning',
      title: 'The critic is inflated',
      finding: `${worst.metric}${whose} reaches ${figure(worst.error)}, but returns are at most ${figure(largest)}: a critic near 0 would have ${figure(largest ** 2)} at most.`,
      advice: imagines(subject)
        ? "Imagined data are the first suspect: an immature world model invents rewards, and sums over a long horizon reach the critic's targets. Compare imagined/reward_max and imagined/return_mean with their real counterparts, wait longer before imagining (minAccuracy, startUpdates), or let imagined data teach the actor only (imaginedCritic: 'real-only')."
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

/**
 * Imagined rewards that the game can't pay: single ones time and again, or more on average than anything that was lived
 * through.
 */
export function invented(subject: Subject): Finding[] {
  const told = [tooLarge(subject), tooMany(subject)].filter((part) => part !== undefined);
  if (told.length === 0) return [];
  return [
    {
      check: 'invented-rewards',
      level: 'warning',
      title: 'Imagined rewards are above real ones',
      finding: told.join(' '),
      advice:
        'Either no agent has reached the best outcome yet, or the world model invents it. If it stays so while real rewards are at their best, train the model more before it is trusted, or let it keep the rules of the game for rewards.',
      command: 'npm run study -- world-model',
      runs: [subject.name],
      metrics: ['imagined/reward_max', 'reward/max', 'imagined/reward_mean', 'reward/mean'],
    },
  ];
}

/**
 * A sound model draws an impossible outcome now and then: one that is sick does so in most updates, and late in the run
 * still.
 */
function tooLarge(subject: Subject): string | undefined {
  const real = largestReward(subject);
  if (real === 0) return undefined;
  const shares = apart(valuesOf(subject, 'imagined/reward_max')).flatMap(([, { values }]) => {
    const isAbove = values.map((value) => (value > 1.05 * real + 1e-6 ? 1 : 0));
    return values.length >= LEAST_UPDATES ? [{ share: late(isAbove), most: greatestOf(values) }] : [];
  });
  const worst = shares.reduce((a, b) => (b.share > a.share ? b : a), { share: 0, most: 0 });
  if (worst.share <= OFTEN) return undefined;
  return `In ${figure(100 * worst.share)} % of the last updates a single imagined step pays up to ${figure(worst.most)}, a real one up to ${figure(real)} so far.`;
}

/** Without spreading them: a long run has more updates than a call takes arguments. */
function greatestOf(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function tooMany(subject: Subject): string | undefined {
  const lived = valuesOf(subject, 'reward/mean');
  const means = apart(valuesOf(subject, 'imagined/reward_mean')).flatMap(([agent, curve]) => {
    const real = highest(lived.get(agent) ?? { steps: [], values: [] });
    return real > 0 ? [{ agent, imagined: highest(curve), real }] : [];
  });
  const [worst] = means.sort((a, b) => b.imagined / b.real - a.imagined / a.real);
  if (worst === undefined || worst.imagined <= TIMES * worst.real) return undefined;
  const whose = worst.agent ? ` of ${worst.agent}` : '';
  return `Imagined steps${whose} pay up to ${figure(worst.imagined)} on average, real ones never more than ${figure(worst.real)}.`;
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
