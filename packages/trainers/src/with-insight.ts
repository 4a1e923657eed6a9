import type { ActionSpaces, Agent, AgentInput, Generator, Saved } from '@coplay/core';
import { checkAgent } from '@coplay/core/checks';
import { hideLearner, isLearning } from './training/learner';

/**
 * The same agent, whose answers also say how it chose (`Agent.insight`), in the extras that `recordEpisode` of
 * `@coplay/envs` keeps. It acts as before, to the bit; only its answers are larger, which is why agents don't add them
 * by themselves: experience would grow.
 *
 * | extra     | shape    | PPO, HOP+                            | HOP and its planners                      |
 * | --------- | -------- | ------------------------------------ | ----------------------------------------- |
 * | `policy`  | [B, K]   | probabilities of the actor           | the search's policy target                |
 * | `values`  | [B]      | the critic's, in the unit of returns | the search's values                       |
 * | `visits`  | [B, K]   | none                                 | visits of the root's actions in all trees |
 * | `beliefs` | [B, A G] | none                                 | about each seat's goal; 0 for its own     |
 *
 * A critic that remembers (`recurrent`) or reads what all agents see (`critic: 'joint'`) can't evaluate one agent's
 * observation of one step: then there are no `values`. `selfPlay` refuses the result of an agent that learns: it would
 * not train it. Agents without `insight` are returned as they are, so that a
 * list of agents can be mapped.
 */
export function withInsight<Spaces extends ActionSpaces>(agent: Agent<Saved, Spaces>): Agent<Saved, Spaces> {
  checkAgent('withInsight', agent as unknown as Agent<Saved, ActionSpaces>);
  if (!agent.insight) return agent;
  const { observe, save, restore } = agent;
  const insight = agent.insight.bind(agent);
  const insightful: Agent<Saved, Spaces> = {
    id: agent.id,
    name: agent.name,
    initialState: (rows) => agent.initialState(rows),
    async act(input: AgentInput<Spaces>, state: Saved, generator: Generator) {
      const output = await agent.act(input, state, generator);
      return { ...output, extras: { ...output.extras, ...(await insight(input, state, output)) } };
    },
    ...(observe && { observe: observe.bind(agent) }),
    ...(save && { save: save.bind(agent) }),
    ...(restore && { restore: restore.bind(agent) }),
  };
  if (isLearning(agent)) hideLearner(insightful);
  return insightful;
}
