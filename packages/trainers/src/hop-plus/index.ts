export { type HopPlusAgent, hopPlusAgent, sharedHopPlusAgents } from './agent';
export type { HopPlusLearner } from './learner';
export type {
  HopPlusModules,
  HopPlusOptions,
  ImaginedOptions,
  SharedHopPlusOptions,
  SubgoalOptions,
} from './options';
