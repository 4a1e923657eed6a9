import { type Evaluation, fail, type Metrics, type SavedState, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';

/** An evaluation in training that was the best. */
export interface BestEvaluation {
  readonly score: number;
  /** Environment steps done then. */
  readonly envSteps: number;
}

const RESTORE = 'restore: saved.evaluations';
const savedSchema = z.strictObject({
  best: z.strictObject({ score: z.number(), envSteps: z.int().min(0) }).nullable(),
  since: z.int().min(0),
});

/** The scores of a run's evaluations in training: the best, and how many came since. */
export class EvaluationScores {
  best: BestEvaluation | undefined;
  /** Evaluations after the best one. */
  private since = 0;

  /** @param patience  evaluations without a better score after which training ends */
  constructor(private readonly patience: number) {}

  /** Whether training should end. */
  get isPatienceOver(): boolean {
    return this.since >= this.patience;
  }

  /** Takes in a score. @returns whether it is the best; of equal ones the first is */
  add(score: number, envSteps: number): boolean {
    if (typeof score !== 'number' || !Number.isFinite(score)) {
      fail('selfPlay: option score', 'a finite number', show(score), 'Return a number for each evaluation.');
    }
    if (this.best && score <= this.best.score) {
      this.since++;
      return false;
    }
    this.best = { score, envSteps };
    this.since = 0;
    return true;
  }

  state(): SavedState {
    return { best: this.best ? { ...this.best } : null, since: this.since };
  }

  /** @param saved  absent in runs without evaluations: they begin anew */
  restore(saved: SavedState | undefined): void {
    if (saved !== undefined) checkArgument(RESTORE, 'saved', savedSchema, saved);
    const { best, since } = (saved ?? { best: null, since: 0 }) as z.infer<typeof savedSchema>;
    this.best = best ?? undefined;
    this.since = since;
  }
}

/** What logs receive of an evaluation. */
export function evaluationMetrics(evaluation: Evaluation, score: number, { best }: EvaluationScores): Metrics {
  const { returnMean, mean, lengthMean } = evaluation;
  return {
    ...Object.fromEntries(Object.entries(returnMean).map(([id, value]) => [`evaluation/return/${id}`, value])),
    'evaluation/return_mean': mean,
    'evaluation/length': lengthMean,
    'evaluation/score': score,
    'evaluation/best_score': best?.score ?? score,
  };
}
