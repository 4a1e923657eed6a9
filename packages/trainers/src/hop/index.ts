export type { HopAgent, HopPlayer, HopState, RowSearch } from './agent';
export { hopAgent, type PlannerOptions, planner, sharedHopAgents } from './hop';
export type { HopLearner } from './learner';
export type { HopNumbers, HopOptions, HopSearchOptions, RankedRewardOptions, SharedHopOptions } from './options';
