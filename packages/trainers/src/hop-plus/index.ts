export { type HopPlusAgent, hopPlusAgent, sharedHopPlusAgents } from './agent';
export type { HopPlusLearner } from './learner';
export type { HopPlusModules, HopPlusOptions, SharedHopPlusOptions } from './options';
