export type { Agent, AgentInput, AgentOutput, AgentStep, Saved, SavedState, Trainer } from './agent';
export { allocate, dtypeOf, inThisRealm, isArrayOf, isTypedArray, ndarray, sizeOf } from './arrays';
export { checkAgentInput, checkAgentStep, checkObservationArrays } from './check-agents';
export { checkExperience, checkExperienceOf } from './check-experience';
export { checkEpisodeLength, checkExperienceSpec, checkGame } from './check-game';
export { checkRewards } from './check-rewards';
export {
  checkCount,
  checkFunction,
  checkNumber,
  checkNumbers,
  checkRecord,
  checkText,
  checkTypedArray,
  isPlainRecord,
  type NumbersRange,
} from './check-values';
export { checkArgument, functions, namedArrays, ndarrays, typedArrays } from './checks';
export { oneForAllCopies, sharedAmongCopies } from './copies';
export { type Complaint, CoplayError, checkOptions, fail, show } from './errors';
export { escapeMarkup, xmlCharacters } from './escape-markup';
export { type EvaluateOptions, type Evaluation, evaluate } from './evaluate';
export {
  allocateCuts,
  allocateExperience,
  allocateObservations,
  type Cuts,
  copyObservation,
  copyRow,
  type Experience,
  isLastStep,
} from './experience';
export type { AgentId, ExperienceSpec, Game, Scene, SceneItem, StepArrays } from './game';
export { assertGame, type GameContractOptions, type GameRule, gameContract, type Violation } from './game-contract';
export {
  checkGenerator,
  createGenerator,
  type Generator,
  type GeneratorState,
  generatorFrom,
  splitSeed,
  streamSeed,
} from './generator';
export type { GoalSet } from './goals';
export { allocateGrid, type GridArrays, type GridParts } from './grid-parts';
export { type ImaginationStarts, imagine } from './imagine';
export { parseJson } from './json';
export { checkMetrics, type Log, type LogEntry, type Metrics, type RunInfo } from './metrics';
export {
  checkObservations,
  highOf,
  type KindFault,
  kindFault,
  kindOf,
  OBSERVATION_KINDS,
  type ObservationArrays,
  type ObservationField,
  type ObservationKind,
  type ObservationSpec,
} from './observations';
export { oneAtATime } from './one-at-a-time';
export { otherView } from './other-views';
export { type ParallelEnv, type ParallelStep, parallelEnv } from './parallel-env';
export { ofPart, type PartToRestore, restorePart, restoreParts, type SavedPart } from './restore-parts';
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
  type ReturnSteps,
} from './returns';
export { createRewardScaler, type RewardScaler } from './reward-scaler';
export { createRollout, type Rollout } from './rollout';
export { createRunningMoments, type RunningMoments } from './running-moments';
export { type Clock, constant, cosine, every, linear, piecewise, ratio, type Schedule, until } from './schedules';
export { checkAgent, seatAgents } from './seats';
export { checkShapes } from './shapes';
export { checkSimulator, rulesSimulator, type Simulator } from './simulator';
export type { ArrayOf, DType, NamedArrays, NDArray, TypedArray } from './typed-arrays';
export { createValueNorm, type ValueNorm } from './value-norm';
export { allocateStepArrays, type VectorEnv, type VectorEnvState, vectorEnv } from './vector-env';
