import {
  type Agent,
  type AgentInput,
  type AgentOutput,
  checkAgent,
  type Generator,
  type NamedArrays,
  type Saved,
} from '@coplay/core';
import { Planner } from '../hop';
import { MindedAgent } from '../hop-plus';
import { NetworkAgent } from '../ppo';
import { hopInsight } from './hop';
import { ppoInsight } from './ppo';

/** What an agent thought when it gave an answer: extras [B, ...] by name. */
export type Insight = (input: AgentInput, state: Saved, output: AgentOutput) => NamedArrays | Promise<NamedArrays>;

/**
 * The same agent, which also tells how it chooses, in the extras that `recordEpisode` of `@coplay/envs` writes down. It acts as before, to the bit; only
 * its answers are larger, which is why agents don't tell by themselves: experience would grow with them.
 *
 * | extra     | shape    | PPO, HOP+                                          | HOP and its planners                                 |
 * | --------- | -------- | -------------------------------------------------- | ---------------------------------------------------- |
 * | `policy`  | [B, K]   | probabilities of the actor                         | the target that the search made                      |
 * | `values`  | [B]      | the critic's, in the unit of returns               | what the search expects                              |
 * | `visits`  | [B, K]   | none                                               | how often the root's actions were tried in all trees |
 * | `beliefs` | [B, A G] | none                                               | about each seat's goal; 0 for its own                |
 *
 * A critic that remembers (`recurrent`) or sees what others see (`critic: 'joint'`) can't value what one agent sees in one step: then there are no
 * `values`. Agents of other kinds are given back as they are, so that a whole table can be mapped.
 */
export function withInsight(agent: Agent): Agent {
  checkAgent('withInsight', agent);
  const insight = insightInto(agent);
  return insight ? telling(agent, insight) : agent;
}

function insightInto(agent: unknown): Insight | undefined {
  if (agent instanceof NetworkAgent) return ppoInsight(agent.learner, agent.id);
  if (agent instanceof MindedAgent) return ppoInsight(agent.learner.ppo, agent.id);
  return agent instanceof Planner ? hopInsight(agent) : undefined;
}

/** The agent with more in its answers. */
function telling(agent: Agent, insight: Insight): Agent {
  const { observe, save, restore } = agent;
  return {
    id: agent.id,
    name: agent.name,
    initialState: (rows) => agent.initialState(rows),
    async act(input: AgentInput, state: Saved, generator: Generator) {
      const output = await agent.act(input, state, generator);
      return { ...output, extras: { ...output.extras, ...(await insight(input, state, output)) } };
    },
    ...(observe && { observe: observe.bind(agent) }),
    ...(save && { save: save.bind(agent) }),
    ...(restore && { restore: restore.bind(agent) }),
  };
}
