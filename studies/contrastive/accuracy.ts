import { type Experience, type NamedArrays, ndarray } from '@coplay/core';
import { gatherRows } from '@coplay/core/rows';
import type { WorldModelLearner } from '@coplay/trainers';

/** Steps of the open loop. */
export const HORIZON = 10;

/** Share of transitions of which every number of every agent was predicted, and who ended. */
export async function oneStep(learner: WorldModelLearner, rows: NamedArrays): Promise<number> {
  return shareExact(learner, (await learner.predict(rows)).happened, rows);
}

/**
 * The same share 1..10 steps ahead in stretches of ten steps of one episode each: the first observations and the true
 * actions are given, and each prediction is the input of the next one.
 *
 * @param play  a rollout in which an agent plays in every step
 */
export async function openLoop(learner: WorldModelLearner, play: Experience): Promise<number[]> {
  const truth = learner.transitions(play);
  const starts = stretches(play);
  const shares: number[] = [];
  let seen: NamedArrays = {};
  for (let ahead = 0; ahead < HORIZON; ahead++) {
    const rows = gatherRows(
      truth,
      starts.map((start) => start + ahead),
    );
    const { happened } = await learner.predict({ ...rows, ...seen });
    shares.push(shareExact(learner, happened, rows));
    seen = observed(happened);
  }
  return shares;
}

/** First steps e T + t of stretches in which no episode ends before the last step. */
function stretches({ envs, steps, ended }: Experience): number[] {
  const starts: number[] = [];
  for (let env = 0; env < envs; env++) {
    for (let t = 0; t + HORIZON <= steps; t++) {
      const start = env * steps + t;
      const end = ended.subarray(start, start + HORIZON - 1).indexOf(1);
      if (end < 0) starts.push(start);
      t += end < 0 ? HORIZON - 1 : end;
    }
  }
  return starts;
}

/** What is predicted, as the columns of the next step's rows. */
function observed({ rewards: _, terminated, ...next }: NamedArrays): NamedArrays {
  const columns = Object.entries(next).map(([name, column]) => [name.replace('next/', ''), column]);
  const active = Uint8Array.from(terminated.data, (isOver) => 1 - (isOver as number));
  return { ...Object.fromEntries(columns), active: ndarray(active, terminated.shape) };
}

function shareExact({ model }: WorldModelLearner, happened: NamedArrays, rows: NamedArrays): number {
  const count = rows['rewards'].shape[0];
  const exact = new Uint8Array(count).fill(1);
  for (const [name, { data }] of Object.entries(happened)) {
    if (name === 'rewards') continue;
    const truth = rows[name === 'terminated' ? 'next/terminated' : name].data;
    for (let i = 0; i < data.length; i++) {
      const agrees = model.agrees!(name, data[i] as number, truth[i] as number);
      if (!agrees) exact[Math.floor((i * count) / data.length)] = 0;
    }
  }
  return exact.reduce((sum, flag) => sum + flag, 0) / count;
}
