import { checkRecord } from '@coplay/core';
import type { LearningAgent } from '../training';
import { MindedAgent } from './agent';
import { HopPlusLearner } from './learner';
import type { HopPlusOptions, SharedHopPlusOptions } from './options';
import { hopPlusSetup } from './setup';

/** An agent with a policy, and models of the world and of the others around it. */
export interface HopPlusAgent extends LearningAgent<Float32Array> {
  readonly learner: HopPlusLearner;
}

/**
 * HOP+ for one agent: a PPO policy that sees the others' inferred subgoals (OMG) and learns from real experience and
 * from experience imagined with models of the world and of the others (MOA). Every module can be switched off; with all
 * of them off it's PPO that sees everyone's previous actions.
 *
 * @throws CoplayError for unknown options, or modules that need one that's off
 */
export function hopPlusAgent(given: HopPlusOptions): HopPlusAgent {
  checkRecord('hopPlusAgent', 'options', given);
  const { id, ...options } = given;
  return new MindedAgent(id, new HopPlusLearner(hopPlusSetup('hopPlusAgent', [id], options)));
}

/** Agents that share one policy and one world model; each has its own models of the others. */
export function sharedHopPlusAgents(given: SharedHopPlusOptions): HopPlusAgent[] {
  checkRecord('sharedHopPlusAgents', 'options', given);
  const { ids, ...options } = given;
  const sharing = ids ?? options.game?.agents ?? [];
  const learner = new HopPlusLearner(hopPlusSetup('sharedHopPlusAgents', sharing, options));
  return sharing.map((id) => new MindedAgent(id, learner));
}
