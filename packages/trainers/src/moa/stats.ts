import type { MoaCounts } from '@coplay/buffers';
import type { NamedArrays, SavedState } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { type GoalCounts, goalCounts } from '@coplay/planning';
import { z } from 'zod';
import { unit } from '../training/annealed';
import type { Scores } from './algorithm';

const counted = z.int().min(0);
const savedSchema = z.looseObject({
  counts: z.looseObject({}),
  accuracy: unit.nullable(),
  logLikelihood: z.number().optional(),
  absoluteError: z.number().min(0).optional(),
  seen: z.looseObject({ rows: counted, episodes: counted }),
});

/** What {@link CoPlayerStats.state} gives. */
interface SavedStats extends Omit<Scores, 'accuracy'> {
  readonly counts: SavedState;
  readonly accuracy: number | null;
  readonly seen: MoaCounts;
}

/** The statistics of one co-player. */
export class CoPlayerStats {
  /** Of the goals that it showed. */
  readonly counts: GoalCounts;
  /** Of its model, on rows before they were trained on; {} until they were measured once. */
  scores: Scores = {};
  /** What had come when its model was last trained. */
  seen: MoaCounts = { rows: 0, episodes: 0 };

  /** @param goals  G */
  constructor(goals: number, discount: number) {
    this.counts = goalCounts(goals, discount);
  }

  /** Counts the goals of whole episodes, as `moaRows` labels them. */
  count({ isFirst, goals }: NamedArrays): void {
    for (let row = 0; row < isFirst.data.length; row++) if (isFirst.data[row] === 1) this.counts.add(goals.data[row]);
  }

  state(): SavedState {
    const { accuracy = null, ...others } = this.scores;
    return { counts: this.counts.state(), accuracy, ...others, seen: { ...this.seen } };
  }

  restore(saved: SavedState): void {
    checkArgument('coPlayerStats.restore', 'saved', savedSchema, saved);
    const { counts, accuracy, logLikelihood, absoluteError, seen } = saved as unknown as SavedStats;
    this.counts.restore(counts);
    this.scores = {
      ...(accuracy !== null && { accuracy }),
      ...(logLikelihood !== undefined && { logLikelihood }),
      ...(absoluteError !== undefined && { absoluteError }),
    };
    this.seen = { ...seen };
  }
}
