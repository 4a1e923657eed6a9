export { type HopAgent, type HopPlayer, type HopState, Planner, type RowSearch } from './agent';
export { hopAgent, type PlannerOptions, planner, sharedHopAgents } from './hop';
export type { HopLearner } from './learner';
export type { HopNumbers, HopOptions, HopSearchOptions, RankedRewardOptions, SharedHopOptions } from './options';
export { SEARCH_POLICY, SEARCH_VALUES } from './rows';
