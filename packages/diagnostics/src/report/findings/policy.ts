import type { Curve } from '../../statistics';
import { columnsOf } from '../columns';
import { stretchMeans } from '../subsample';
import { apart, type Finding, figure, late, type Subject, valuesOf } from './finding';

/** docs/metrics.md: updates are too large above these for long. */
const LARGE_KL = 0.05;
const LARGE_CLIP_FRACTION = 0.3;
/**
 * An entropy below this share of the highest one within the first third of a run: 30 sound runs kept 0.66 or more, a
 * sick one 0.05 to 0.16.
 */
const EARLY = 0.25;
/** Stretches of a run, of which six are its first third: one odd update is no finding. */
const STRETCHES = 20;
const THIRD = 6;
/** Updates of a run that can be judged. */
const LEAST_UPDATES = 30;

/** Updates that move the policy too far. */
export function largeUpdates(subject: Subject): Finding[] {
  const kl = greatestLate(subject, 'policy/approx_kl');
  const clipped = greatestLate(subject, 'policy/clip_fraction');
  if (!(kl > LARGE_KL) && !(clipped > LARGE_CLIP_FRACTION)) return [];
  const told = [
    Number.isFinite(kl) ? `policy/approx_kl is ${figure(kl)} nats (up to ${LARGE_KL} is usual)` : '',
    Number.isFinite(clipped) ? `policy/clip_fraction ${figure(clipped)} (up to ${LARGE_CLIP_FRACTION})` : '',
  ];
  return [
    {
      check: 'large-updates',
      level: 'warning',
      title: 'Policy updates are too large',
      finding: `Over the last fifth ${told.filter(Boolean).join(' and ')}.`,
      advice:
        'Lower the learning rate, take fewer epochs, or larger minibatches; targetKl stops an update that goes too far.',
      command: 'npm run study -- ppo-stag-hunt',
      runs: [subject.name],
      metrics: ['policy/approx_kl', 'policy/clip_fraction'],
    },
  ];
}

/** A policy that stopped to explore before it could learn. */
export function earlyEntropy(subject: Subject): Finding[] {
  const idle = valuesOf(subject, 'policy/steps');
  const lost = apart(valuesOf(subject, 'policy/entropy')).flatMap(([agent, curve]) => {
    const early = earlyStretches(withoutIdle(curve, idle.get(agent)));
    const fell = early.some((value, i) => value < EARLY * Math.max(...early.slice(0, i)));
    return fell ? [agent || 'the policy'] : [];
  });
  if (lost.length === 0) return [];
  return [
    {
      check: 'early-entropy',
      level: 'warning',
      title: 'Exploration ended early',
      finding: `policy/entropy of ${lost.join(', ')} fell below ${100 * EARLY} % of its height within the first third of the run.`,
      advice: 'Raise entropyWeight, annealed: { from: 0.1, to: 0 } is what leads past the hares in the stag hunt.',
      command: 'npm run study -- ppo-stag-hunt',
      runs: [subject.name],
      metrics: ['policy/entropy', 'policy/entropy_weight'],
    },
  ];
}

/** Means of the stretches in the first third; none where there are too few updates to judge. */
function earlyStretches(curve: Curve): readonly number[] {
  if (curve.values.length < LEAST_UPDATES) return [];
  return stretchMeans(curve, STRETCHES).values.slice(0, THIRD);
}

/** Without updates that took no gradient step: they log 0 for an entropy. */
function withoutIdle({ steps, values }: Curve, taken: Curve | undefined): Curve {
  const idle = new Set(taken?.steps.filter((_, i) => taken.values[i] === 0));
  const isKept = (_: number, i: number) => !idle.has(steps[i]);
  return { steps: steps.filter(isKept), values: values.filter(isKept) };
}

/** NaN and infinities: logged ones, and minibatches that were left out for them. */
export function notFinite(subject: Subject): Finding[] {
  const isWrong = (key: string) => (value: number) =>
    !Number.isFinite(value) || (value > 0 && /((policy|opt)\/skipped|_not_finite)$/.test(key));
  const keys = [...columnsOf(subject.run)].flatMap(([key, { values }]) => (values.some(isWrong(key)) ? [key] : []));
  if (keys.length === 0) return [];
  const shown = keys.slice(0, 5).join(', ');
  return [
    {
      check: 'not-finite',
      level: 'fault',
      title: 'Numbers are not finite',
      finding: `NaN, infinite or skipped: ${shown}${keys.length > 5 ? ` and ${keys.length - 5} more` : ''}.`,
      advice:
        "Run again with nonFinite: 'stop' and a directory: the batch that did it is saved there as non-finite-*.npz.",
      command: 'npm test',
      runs: [subject.name],
      metrics: ['policy/skipped', 'policy/gradient_norm'],
    },
  ];
}

function greatestLate(subject: Subject, metric: string): number {
  const found = apart(valuesOf(subject, metric)).map(([, { values }]) => late(values));
  return found.length > 0 ? Math.max(...found) : Number.NaN;
}
