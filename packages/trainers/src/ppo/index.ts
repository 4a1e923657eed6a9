export { frozen, type PpoAgent, type PpoAgentOptions, ppoAgent, type SharedPpoOptions, sharedPpoAgents } from './agent';
export {
  clippedSurrogate,
  type PolicyDiagnostics,
  policyDiagnostics,
  ppoTargets,
  type Targets,
  valueLoss,
  weightedMean,
} from './algorithm';
export { ppoInsight } from './insight';
export { PpoLearner, PpoWrapper } from './learner';
export { type PpoOptions, ppoPresets, ppoSchema, prosocialRewards } from './options';
export { pastSelves } from './past-selves';
export { type PpoNetworkOptions, type PpoSetup, ppoSetup } from './setup';
