export {
  type DreamerAgent,
  type DreamerAgentOptions,
  type DreamerState,
  dreamerAgent,
  type SharedDreamerOptions,
  sharedDreamerAgents,
} from './agent';
export { type CriticInputs, criticLoss, type PolicyInputs, policyLoss } from './behaviour';
export { detached, type ImaginationNoise, type ImaginedSequence, imagineSequence, lastStates } from './imagination';
export { DreamerLearner, type DreamerStates } from './learner';
export type { OpenLoop, OpenLoopOptions } from './open-loop';
export type { DreamerLossScales, DreamerOptions, ResolvedDreamerOptions } from './options';
export {
  arrivalReturns,
  imaginedWeights,
  type ReplayInputs,
  type ReturnInputs,
  type ReturnRange,
  type ReturnRangeOptions,
  replayReturns,
  trackReturns,
} from './returns';
export type { DreamerNetworkOptions, DreamerSetup } from './setup';
