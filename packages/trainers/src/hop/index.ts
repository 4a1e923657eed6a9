export { type HopAgent, type HopPlayer, hopAgent, type PlannerOptions, planner, sharedHopAgents } from './agent';
export type { HopLearner } from './learner';
export type { HopOptions, HopSearchOptions, SharedHopOptions } from './options';
