export {
  type FrozenOptions,
  frozen,
  type PpoAgent,
  type PpoAgentOptions,
  ppoAgent,
  type SharedPpoOptions,
  sharedPpoAgents,
} from './agent';
export {
  clippedSurrogate,
  type PolicyDiagnostics,
  policyDiagnostics,
  ppoTargets,
  type SurrogateInputs,
  type TargetOptions,
  type Targets,
  type ValueInputs,
  type ValueLossOptions,
  valueLoss,
  weightedMean,
} from './algorithm';
export { ppoInsight } from './insight';
export { PpoLearner, PpoWrapper } from './learner';
export { type PpoOptions, ppoPresets, prosocialRewards, type RewardChoice } from './options';
export { type PastSelvesOptions, pastSelves } from './past-selves';
export { type PpoNetworkOptions, type PpoSetup, ppoSetup } from './setup';
