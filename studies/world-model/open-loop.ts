import type { Experience, NamedArrays } from '@coplay/core';
import { gatherRows } from '@coplay/core/rows';
import { type OpenLoopStep, openLoopErrors } from '@coplay/diagnostics/world-model';
import type { WorldModelLearner } from '@coplay/trainers';

/**
 * Predicts whole episodes from their first state and the true actions alone, and compares step by step.
 *
 * @param episodes  one in each row, from their start
 */
export async function openLoop(learner: WorldModelLearner, episodes: Experience) {
  const truth = learner.transitions(episodes);
  const starts: number[] = [];
  episodes.lengths.reduce((start, length) => {
    starts.push(start);
    return start + length;
  }, 0);
  const longest = Math.max(...episodes.lengths);
  const steps: OpenLoopStep[] = [];
  let running = starts.map((_, episode) => episode);
  let predicted: NamedArrays | undefined;
  for (let t = 0; t < longest; t++) {
    const before = running;
    running = before.filter((episode) => episodes.lengths[episode] > t);
    const rows = gatherRows(
      truth,
      running.map((episode) => starts[episode] + t),
    );
    const { happened } = await learner.predict(predicted ? goOn(rows, predicted, before, running) : rows);
    steps.push({ happened, rows });
    predicted = happened;
  }
  return openLoopErrors(steps);
}

/** The true rows with the predicted state in the place of the true one. */
function goOn(rows: NamedArrays, predicted: NamedArrays, before: number[], running: number[]): NamedArrays {
  const place = new Map(before.map((episode, row) => [episode, row]));
  const own = gatherRows(
    { cells: predicted['next/cells'], things: predicted['next/things'] },
    running.map((episode) => place.get(episode) ?? 0),
  );
  return { ...rows, ...own };
}
