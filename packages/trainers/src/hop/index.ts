export {
  type HopAgent,
  type HopPlayer,
  type HopState,
  hopAgent,
  type PlannerOptions,
  planner,
  type RowSearch,
  sharedHopAgents,
} from './agent';
export type { HopLearner } from './learner';
export type { HopNumbers, HopOptions, HopSearchOptions, RankedRewardOptions, SharedHopOptions } from './options';
