export * from './checkpoint';
export * from './dreamer';
export * from './export';
export {
  type HopAgent,
  type HopLearner,
  type HopNumbers,
  type HopOptions,
  type HopPlayer,
  type HopSearchOptions,
  type HopState,
  hopAgent,
  type PlannerOptions,
  planner,
  type RankedRewardOptions,
  type RowSearch,
  type SharedHopOptions,
  sharedHopAgents,
} from './hop';
export {
  type HopPlusAgent,
  type HopPlusLearner,
  type HopPlusModules,
  type HopPlusOptions,
  hopPlusAgent,
  type ImaginedOptions,
  type SharedHopPlusOptions,
  type SubgoalOptions,
  sharedHopPlusAgents,
} from './hop-plus';
export * from './lola';
export {
  createMoa,
  type GoalChoice,
  type MoaAgentState,
  type MoaLearner,
  type MoaOptions,
  type MoaPretrainOptions,
  type MoaView,
} from './moa';
export * from './omg';
export {
  clippedSurrogate,
  type FrozenOptions,
  frozen,
  type PastSelvesOptions,
  type PolicyDiagnostics,
  type PpoAgent,
  type PpoAgentOptions,
  PpoLearner,
  type PpoNetworkOptions,
  type PpoOptions,
  type PpoSetup,
  pastSelves,
  policyDiagnostics,
  ppoAgent,
  ppoPresets,
  ppoTargets,
  prosocialRewards,
  type RewardChoice,
  type SharedPpoOptions,
  type SurrogateInputs,
  sharedPpoAgents,
  type TargetOptions,
  type Targets,
  type ValueInputs,
  type ValueLossOptions,
  valueLoss,
  weightedMean,
} from './ppo';
export * from './self-play';
export * from './social-influence';
export * from './training';
export * from './with-insight';
export * from './world-model';
