export {
  type DreamerAgent,
  type DreamerAgentOptions,
  dreamerAgent,
  type SharedDreamerOptions,
  sharedDreamerAgents,
} from './agent';
export { criticLoss, policyLoss } from './behaviour';
export { detached, type ImaginedSequence, imagineSequence, lastStates } from './imagination';
export { DreamerLearner } from './learner';
export type { DreamerOptions } from './options';
export { arrivalReturns, imaginedWeights, type ReturnRange, replayReturns, trackReturns } from './returns';
