export {
  type PpoAgent,
  type PpoAgentOptions,
  ppoAgent,
  type SharedPpoOptions,
  sharedPpoAgents,
} from './agent';
export { type FrozenOptions, frozen } from './frozen';
export { ppoInsight } from './insight';
export { PpoLearner } from './learner';
export { currentLogProbs } from './log-probs';
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
export type { PpoOptions } from './options';
export { type PastSelvesOptions, pastSelves } from './past-selves';
export { ppoPresets } from './presets';
export { prosocialRewards, type RewardChoice } from './rewards';
export { type PpoNetworkOptions, type PpoSetup, ppoSetup } from './setup';
export { ppoTargets, type TargetOptions, type Targets } from './targets';
export { PpoWrapper } from './wrapper';
