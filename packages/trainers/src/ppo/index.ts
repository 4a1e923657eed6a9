export { type PpoAgent, type PpoAgentOptions, ppoAgent, type SharedPpoOptions, sharedPpoAgents } from './agent';
export { type FrozenOptions, frozen } from './frozen';
export { PpoLearner } from './learner';
export {
  clippedSurrogate,
  type PolicyDiagnostics,
  policyDiagnostics,
  type SurrogateInputs,
  type ValueInputs,
  type ValueLossOptions,
  valueLoss,
  weightedMean,
} from './losses';
export { type Annealed, anneal, type PpoOptions } from './options';
export { ppoPresets } from './presets';
export { prosocialRewards, type RewardChoice } from './rewards';
export type { PpoNetworkOptions, PpoSetup } from './setup';
export { ppoTargets, type TargetOptions, type Targets } from './targets';
