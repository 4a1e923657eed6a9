import { type AgentId, checkOptions, checkRecord, fail, sharedAmongCopies, show } from '@coplay/core';
import { z } from 'zod';
import { anneal } from '../training/annealed';
import { type HopAgent, type HopPlayer, Planner } from './agent';
import { HopLearner } from './learner';
import { checkSearchOptions, type HopOptions, type HopSearchOptions, type SharedHopOptions } from './options';
import { hopSetup } from './setup';

/**
 * HOP (Huang et al., ICML 2024): an agent that infers each co-player's goal from its actions in this episode (intra-OM)
 * and in earlier ones (inter-OM), plans by tree search against goal-conditioned models of the co-players, and learns
 * from the search results.
 *
 * @throws CoplayError for unknown options, an id that the game doesn't have, and games whose state agents don't see
 */
export function hopAgent(given: HopOptions): HopAgent {
  checkRecord('hopAgent', 'options', given);
  const { id, ...options } = given;
  return new LearningPlanner(id, new HopLearner(hopSetup('hopAgent', [id], options)));
}

/** Agents that share policy, value and world model; each has its own models of the others, and beliefs about them. */
export function sharedHopAgents(given: SharedHopOptions): HopAgent[] {
  checkRecord('sharedHopAgents', 'options', given);
  const { ids, ...options } = given;
  const sharing = ids ?? options.game?.agents ?? [];
  const learner = new HopLearner(hopSetup('sharedHopAgents', sharing, options));
  return sharing.map((id) => new LearningPlanner(id, learner));
}

/** Options of {@link planner}. */
export type PlannerOptions = HopSearchOptions & {
  /** The seat to play in: one of those whose co-players the learner models. Default: the agent's own */
  readonly id?: AgentId;
  /** Whether goals that a co-player showed are remembered between episodes. Default: as the agent does */
  readonly interOM?: boolean;
  /** Whether beliefs follow what co-players do within an episode. Default: as the agent does */
  readonly intraOM?: boolean;
};

/**
 * A trained agent with another budget, or without half of its beliefs: it plays with the agent's networks of the moment
 * but doesn't learn. It begins with a copy of the agent's beliefs, or with none where `interOM` is another. Options
 * that aren't given are the agent's own, except that there's no noise at the root.
 *
 * @throws CoplayError for unknown options, and agents of another kind
 */
export function planner(agent: HopAgent, options: PlannerOptions = {}): HopPlayer {
  if (!(agent instanceof LearningPlanner)) {
    const remedy = 'Give one of those first, then the options; other agents have no search, and play as they are.';
    fail('planner', 'an agent of hopAgent or sharedHopAgents', agent?.name ?? show(agent), remedy);
  }
  const { id, interOM, intraOM, search } = plannerOptions(agent, options);
  const { setup } = agent.learner;
  const beliefs = { ...setup.beliefs, inter: interOM, intra: intraOM };
  const budget = { ...setup.search, rootNoise: false as const, ...search };
  const own = new BudgetPlanner(id, agent.learner, budget, () => 0, beliefs);
  if (id === agent.id && interOM === setup.beliefs.inter) own.restore(agent.save());
  return own;
}

function plannerOptions({ id: ownId, learner }: HopAgent, options: PlannerOptions) {
  const { inter, intra } = learner.setup.beliefs;
  checkRecord('planner', 'options', options);
  const { id = ownId, interOM = inter, intraOM = intra, ...others } = options;
  checkSearchOptions('planner', others);
  // Left out and undefined are the same.
  const search: HopSearchOptions = Object.fromEntries(
    Object.entries(others).filter(([, value]) => value !== undefined),
  );
  const schema = z.strictObject({
    id: z.enum([...learner.ids] as [string]),
    interOM: z.boolean(),
    intraOM: z.boolean(),
  });
  return { ...checkOptions('planner', schema, { id, interOM, intraOM }), search };
}

class LearningPlanner extends Planner implements HopAgent {
  readonly name = 'HOP';
  readonly learner: HopLearner;

  constructor(id: AgentId, learner: HopLearner) {
    super(id, learner, learner.setup.search, () => anneal(learner.setup.uniformGoals, learner.progress));
    this.learner = learner;
    learner.watch(this.search);
  }
}

sharedAmongCopies(LearningPlanner, '@coplay/trainers/LearningPlanner@0.1');

class BudgetPlanner extends Planner implements HopPlayer {
  readonly name = 'HOP (planner)';
}
