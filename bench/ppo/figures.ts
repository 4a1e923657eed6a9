import type { TableRow } from '@coplay/diagnostics';
import { median } from '@coplay/diagnostics/statistics';
import { medianOrNever, orNever } from '../harness';
import { GOAL, type Split, type Trial, type Weights } from './trial';

/** A seed's trials of one kind of weights; `jax` only where it's there. */
export type Pair = Readonly<{ ours: Trial; jax?: Trial }>;

/** Ours / theirs, the median over seeds of the ratio within a seed; null without them. */
export function speedRatio(pairs: readonly Pair[]): number | null {
  const ratios = pairs.flatMap(({ ours, jax }) => (jax ? ours.stepsPerSecond / jax.stepsPerSecond : []));
  return ratios.length === 0 ? null : median(ratios);
}

/** A line for each side: medians over seeds. */
export function rowsOf(weights: Weights, pairs: readonly Pair[]): TableRow[] {
  const theirs = pairs.flatMap(({ jax }) => jax ?? []);
  const ours = rowOf(
    weights,
    pairs.map((pair) => pair.ours),
    speedRatio(pairs),
  );
  return theirs.length === 0 ? [ours] : [ours, rowOf(weights, theirs, null)];
}

function rowOf(weights: Weights, trials: readonly Trial[], ratio: number | null): TableRow {
  const of = (figure: (trial: Trial) => number) => median(trials.map(figure));
  const part = (name: keyof Split) => (trials[0].split ? of(({ split }) => split?.[name] ?? 0) : null);
  const toGoal = ({ goal }: Trial) => goal?.seconds ?? null;
  const withCompiling = trials.map((trial) => (trial.goal ? trial.goal.seconds + trial.compileSeconds : null));
  return {
    weights,
    '': trials[0].name,
    'steps/s': Math.round(of(({ stepsPerSecond }) => stepsPerSecond)),
    'overall steps/s': Math.round(of(({ overall }) => overall)),
    'ours / JAX': ratio,
    [`seconds to ${GOAL}`]: orNever(medianOrNever(trials.map(toGoal))),
    'of seeds': trials.map(toGoal).map(orNever).join(', '),
    'compiling before, s': of(({ compileSeconds }) => compileSeconds),
    'with that': orNever(medianOrNever(withCompiling)),
    [`steps to ${GOAL}`]: trials.map(({ goal }) => goal?.envSteps ?? 'never').join(', '),
    'mean return at the end': of(({ last }) => last ?? 0),
    environment: part('environment'),
    acting: part('acting'),
    learning: part('learning'),
    rest: part('rest'),
  };
}
