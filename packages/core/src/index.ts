export {
  type ActionArray,
  type ActionSpace,
  type ActionSpaces,
  type ActionsOf,
  type BoxSpace,
  box,
  type MultiDiscreteSpace,
  multiDiscrete,
} from './action-spaces';
export type { Agent, AgentInput, AgentOutput, AgentStep, Saved, SavedState, Trainer } from './agent';
export { allocate, ndarray } from './arrays';
export type { VectorEnv } from './batch';
export { checkGame } from './check-game';
export type { CrossPlay, SeatedPlay } from './cross-play';
export { CoplayError, checkOptions, fail, show } from './errors';
export { type EvaluateOptions, type Evaluation, evaluate } from './evaluate';
export type { Experience } from './experience';
export { type ExternalDescription, externalGame } from './external';
export type {
  AgentId,
  AnyGame,
  ExperienceSpec,
  ExternalBatch,
  ExternalEnvs,
  ExternalRules,
  Game,
  Scene,
  SceneItem,
  StepArrays,
} from './game';
export { assertGame, gameContract, type Violation } from './game-contract';
export {
  createGenerator,
  type Generator,
  type GeneratorState,
  generatorFrom,
  splitSeed,
  streamSeed,
} from './generator';
export type { GoalSet, GoalStep } from './goals';
export type { GridParts } from './grid-parts';
export { type ImaginationStarts, startsFrom } from './imagination-starts';
export { imagine } from './imagine';
export type { Log, LogEntry, Metrics, RunInfo } from './metrics';
export type { ObservationArrays, ObservationField, ObservationKind, ObservationSpec } from './observations';
export { otherView } from './other-views';
export { type ParallelEnv, type ParallelStep, parallelEnv } from './parallel-env';
export {
  type Advantages,
  bootstrapValues,
  continuation,
  discountedSum,
  explainedVariance,
  gae,
  lambdaReturns,
  monteCarloReturns,
  normaliseAdvantages,
} from './returns';
export { createRewardScaler, type RewardScaler } from './reward-scaler';
export { createRollout, type Rollout } from './rollout';
export { createRunningMoments, type RunningMoments } from './running-moments';
export { type Clock, constant, cosine, every, linear, piecewise, ratio, type Schedule, until } from './schedules';
export { seatAgents } from './seats';
export { checkShapes } from './shapes';
export { rulesSimulator, type Simulator } from './simulator';
export type { ArrayOf, DType, NamedArrays, NDArray, TypedArray } from './typed-arrays';
export { createValueNorm, type ValueNorm } from './value-norm';
export { vectorEnv } from './vector-env';
