export {
  type DreamerAgent,
  type DreamerAgentOptions,
  type DreamerState,
  dreamerAgent,
  type SharedDreamerOptions,
  sharedDreamerAgents,
} from './agent';
export { DreamerLearner, type DreamerStates } from './learner';
export type { OpenLoop, OpenLoopOptions } from './open-loop';
export type { DreamerLossScales, DreamerOptions, ResolvedDreamerOptions } from './options';
export type { DreamerNetworkOptions, DreamerSetup } from './setup';
