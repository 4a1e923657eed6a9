import {
  type AgentInput,
  checkAgentInput,
  checkExperienceOf,
  checkGenerator,
  checkNumber,
  checkRecord,
  fail,
  type Game,
  type Generator,
  show,
} from '@coplay/core';
import type { LearnerData } from './learner';

/**
 * Refuses what a learner can't learn from, before anything has changed. The values of arrays aren't looked at.
 *
 * @param where  the learner and its method, for the message: `PPO (agent_0).update`
 */
export function checkLearnerData(where: string, game: Game, data: LearnerData): void {
  checkRecord(where, 'data', data);
  const { experience, imagined = [], progress, generator } = data;
  checkExperienceOf(where, game, experience);
  if (!Array.isArray(imagined)) {
    fail(`${where}: imagined`, 'a list of experience', show(imagined), 'Leave it out where nothing was imagined.');
  }
  imagined.forEach((one, i) => void checkExperienceOf(where, game, one, `imagined[${i}]`));
  checkNumber(where, 'progress', progress, { min: 0, max: 1 });
  checkGenerator(where, generator);
}

/**
 * Refuses what an agent can't act on. Its state is checked by the agent.
 *
 * @param where  the agent and its method, for the message: `PPO (agent_0).act`
 */
export function checkAct(where: string, game: Game, input: AgentInput, generator: Generator): void {
  checkAgentInput(where, game, input);
  checkGenerator(where, generator);
}
