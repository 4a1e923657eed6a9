export {
  type CrossPlayOptions,
  crossPlay,
  type Exploitability,
  type ExploitabilityOptions,
  exploitability,
  type Policy,
} from './cross-play';
export {
  type DreamerAgent,
  type DreamerAgentOptions,
  type DreamerLearner,
  type DreamerOptions,
  dreamerAgent,
  type SharedDreamerOptions,
  sharedDreamerAgents,
} from './dreamer';
export {
  type Curriculum,
  curriculum,
  type Exploration,
  type ExplorationGoals,
  type Explorers,
  type ExplorersOf,
  type ExplorerView,
  type GridGoalsOptions,
  gridGoals,
  type SharedGoalsOptions,
  sharedGoals,
} from './exploration';
export { exportOnnx, toOnnx } from './export';
export {
  type HopAgent,
  type HopLearner,
  type HopOptions,
  type HopPlayer,
  type HopSearchOptions,
  hopAgent,
  type PlannerOptions,
  planner,
  type SharedHopOptions,
  sharedHopAgents,
} from './hop';
export {
  type HopPlusAgent,
  type HopPlusLearner,
  type HopPlusModules,
  type HopPlusOptions,
  hopPlusAgent,
  type SharedHopPlusOptions,
  sharedHopPlusAgents,
} from './hop-plus';
export {
  type LoadedRun,
  type LoadOptions,
  loadAgents,
  loadRun,
  type OwnAgents,
  type PackOptions,
  packAgents,
  type UnpackedAgents,
  type UnpackOptions,
  unpackAgents,
} from './load';
export {
  type IteratedGame,
  type IteratedGradients,
  iteratedGame,
  iteratedGradients,
  type Lola,
  type LolaOptions,
  lola,
  memoryOneAgent,
} from './lola';
export { createMoa, type GoalChoice, type MoaLearner, type MoaOptions, type MoaView } from './moa';
export { createOmg, type OmgLearner, type OmgOptions } from './omg';
export {
  frozen,
  type PpoAgent,
  type PpoAgentOptions,
  PpoLearner,
  type PpoNetworkOptions,
  type PpoOptions,
  pastSelves,
  ppoAgent,
  ppoPresets,
  prosocialRewards,
  type SharedPpoOptions,
  sharedPpoAgents,
} from './ppo';
export {
  type BestEvaluation,
  type InterruptSignal,
  interruptSignal,
  type PartnerOptions,
  type SelfPlay,
  type SelfPlayOptions,
  selfPlay,
  type TrainingCallbacks,
  type TrainingMoment,
} from './self-play';
export {
  type SocialInfluenceAgent,
  type SocialInfluenceLearner,
  type SocialInfluenceOptions,
  socialInfluenceAgent,
} from './social-influence';
export {
  type Annealed,
  anneal,
  findNonFinite,
  isLearning,
  type Learner,
  type LearnerData,
  type LearningAgent,
  type Lockstep,
  NonFiniteError,
} from './training';
export { withInsight } from './with-insight';
export { createWorldModel, type WorldModelLearner, type WorldModelOptions } from './world-model';
