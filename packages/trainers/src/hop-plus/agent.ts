import type { AgentId } from '@coplay/core';
import { checkRecord } from '@coplay/core/checks';
import type { LearningAgent } from '../training';
import { HopPlusLearner } from './learner';
import type { HopPlusOptions, SharedHopPlusOptions } from './options';
import { HopPlusPolicyAgent, PriorReadingAgent } from './policy';
import { HopPlusSearchAgent, type SearchingState } from './search';
import { hopPlusSetup } from './setup';

/** The state of a HOP+ agent from step to step: the memory of its inference, and what a search needs in addition. */
export type HopPlusState = Float32Array | SearchingState;

/** An agent with a policy, and models of the world and of its co-players. */
export interface HopPlusAgent extends LearningAgent<HopPlusState> {
  readonly learner: HopPlusLearner;
}

/**
 * HOP+ for one agent: a PPO policy that reads the inferred subgoals of its co-players (OMG) and learns from real
 * experience and from experience imagined with models of the world and of the co-players (MOA). `treeSearch` adds a
 * tree search among the modelled co-players. Every module can be switched off; without any module it is PPO that reads
 * the previous actions of all agents.
 *
 * @throws CoplayError for unknown options, or modules that need one that's off
 */
export function hopPlusAgent(given: HopPlusOptions): HopPlusAgent {
  checkRecord('hopPlusAgent', 'options', given);
  const { id, ...options } = given;
  return agentOf(id, new HopPlusLearner(hopPlusSetup('hopPlusAgent', [id], options)));
}

function agentOf(id: AgentId, learner: HopPlusLearner): HopPlusAgent {
  const { treeSearch, priorSize } = learner.setup;
  if (treeSearch) return new HopPlusSearchAgent(id, learner);
  return priorSize > 0 ? new PriorReadingAgent(id, learner) : new HopPlusPolicyAgent(id, learner);
}

/** Agents that share one policy and one world model; each has its own models of the others. */
export function sharedHopPlusAgents(given: SharedHopPlusOptions): HopPlusAgent[] {
  checkRecord('sharedHopPlusAgents', 'options', given);
  const { ids, ...options } = given;
  const sharing = ids ?? options.game?.agents ?? [];
  const learner = new HopPlusLearner(hopPlusSetup('sharedHopPlusAgents', sharing, options));
  return sharing.map((id) => agentOf(id, learner));
}
