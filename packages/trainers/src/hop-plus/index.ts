export { type HopPlusAgent, hopPlusAgent, sharedHopPlusAgents } from './hop-plus';
export type { HopPlusLearner } from './learner';
export type {
  HopPlusModules,
  HopPlusOptions,
  ImaginedOptions,
  SharedHopPlusOptions,
  SubgoalOptions,
} from './options';
