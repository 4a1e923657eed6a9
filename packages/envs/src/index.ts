export {
  freeRider,
  type MixedOptions,
  mixed,
  type NearestStagOptions,
  nearestDrift,
  nearestHare,
  nearestStag,
  type RuleAgentOptions,
  randomAgent,
  type SwitcherOptions,
  type SwitcherState,
  switcher,
  titForTat,
} from './agents';
export {
  type CartPoleOptions,
  type CatchOptions,
  cartPole,
  catchGame,
  type GymBoardOptions,
  type GymEscalationOptions,
  type GymHarvestOptions,
  type GymHuntOptions,
  gymEscalation,
  gymHarvest,
  gymHunt,
} from './classic';
export type { Place } from './game';
export { type MatrixGameKind, type MatrixGameOptions, matrixGame, type PayoffTable } from './matrix';
export {
  checkRecording,
  decodeRecording,
  encodeRecording,
  type RecordEpisodeOptions,
  type RecordedFrame,
  type RecordedInsight,
  type RecordedObservation,
  type RecordedPrediction,
  type RecordedStep,
  type Recording,
  readRecording,
  recordEpisode,
  replayEpisode,
  writeRecording,
} from './recordings';
export { agentColor, renderReplay, renderSvg, renderText, type SvgOptions, sceneSvg, type TextOptions } from './render';
export { type SnowdriftLayout, type SnowdriftOptions, snowdrift } from './snowdrift';
export { type StagHuntLayout, type StagHuntOptions, stagHunt } from './stag-hunt';
export {
  type LimitedViewOptions,
  limitedView,
  permuteSeats,
  timeLimit,
  withAgentId,
  withPreviousActions,
} from './wrappers';
