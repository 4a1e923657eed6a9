export {
  type DreamerAgent,
  type DreamerAgentOptions,
  type DreamerState,
  dreamerAgent,
  type SharedDreamerOptions,
  sharedDreamerAgents,
} from './agent';
export { detached, type ImaginationNoise, type ImaginedSequence, imagineSequence } from './imagination';
export { lastStates } from './last-states';
export { DreamerLearner, type DreamerStates } from './learner';
export { type CriticTerms, criticLoss, type PolicyTerms, policyLoss } from './losses';
export type { OpenLoop, OpenLoopOptions } from './open-loop';
export type { DreamerLossScales, DreamerOptions, ResolvedDreamerOptions } from './options';
export { type ReturnRange, type ReturnRangeOptions, trackReturns } from './return-range';
export { arrivalReturns, imaginedWeights, type ReplayTerms, type ReturnTerms, replayReturns } from './returns';
export type { DreamerNetworkOptions, DreamerSetup } from './setup';
