import { type Experience, type NDArray, ndarray } from '@coplay/core';
import { experienceRows } from '@coplay/models';
import { paddedCount, padRows } from '../padding';
import type { PpoLearner } from './learner';
import { prefixInputs, putSeat, seatRows } from './rows';

/**
 * The same experience with the log-probabilities that the present policy gives to one seat's actions: for inputs that were
 * changed after acting. For feedforward policies.
 */
export async function currentLogProbs(learner: PpoLearner, experience: Experience, seat: number): Promise<Experience> {
  const { net, actorEncoder } = learner.setup;
  const agents = experience.agents.length;
  const rows = experience.envs * experience.steps;
  const inputs = {
    ...prefixInputs('actor', actorEncoder.encode(experienceRows(experience, seat))),
    mask: seatRows(experience.masks, seat, agents, [net.actions]),
  };
  const { logProbs } = await learner.ready().functions.act(padRows(inputs, paddedCount(rows)));
  const actions = seatRows(experience.actions, seat, agents).data;
  const taken = Float32Array.from(actions, (action, row) => (logProbs as NDArray).data[row * net.actions + action]);
  const data = (experience.extras['logProbs'].data as Float32Array).slice();
  putSeat(data, seat, agents, taken);
  const renewed = ndarray(data, experience.extras['logProbs'].shape);
  return { ...experience, extras: { ...experience.extras, logProbs: renewed } };
}
