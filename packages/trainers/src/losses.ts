/*
 * `@coplay/trainers/losses`: targets, losses and imagined sequences of the algorithms, as functions for learners of
 * your own.
 */
export {
  arrivalReturns,
  criticLoss,
  detached,
  type ImaginedSequence,
  imaginedWeights,
  imagineSequence,
  lastStates,
  policyLoss,
  type ReturnRange,
  replayReturns,
  trackReturns,
} from './dreamer';
export {
  clippedSurrogate,
  type PolicyDiagnostics,
  policyDiagnostics,
  ppoTargets,
  type Targets,
  valueLoss,
  weightedMean,
} from './ppo';
export { actionInfluence } from './social-influence';
