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
  switcher,
  type TitForTatOptions,
  titForTat,
} from './agents';
export { cartPole, catchGame, gymEscalation, gymHarvest, gymHunt, pendulum } from './classic';
export { type LevelForagingOptions, levelForaging } from './foraging';
export { matrixGame } from './matrix';
export { type OvercookedOptions, overcooked } from './overcooked';
export {
  type SimpleSpeakerListenerOptions,
  type SimpleSpreadOptions,
  type SimpleTagOptions,
  simpleSpeakerListener,
  simpleSpread,
  simpleTag,
} from './particle';
export {
  actionText,
  checkRecording,
  decodeRecording,
  encodeRecording,
  type Recording,
  readRecording,
  recordEpisode,
  replayEpisode,
  writeRecording,
} from './recordings';
export { type GameDescription, gamesByName, type RuleDescription, remakeGame, remakeRule } from './remake';
export { agentColor, renderReplay, renderSvg, renderText, sceneSvg } from './render';
export { type SnowdriftOptions, snowdrift } from './snowdrift';
export { type StagHuntOptions, stagHunt } from './stag-hunt';
export {
  clipActions,
  flattenObservations,
  frameStack,
  limitedView,
  noOpAfterEnd,
  type OptimisticPartnersOptions,
  optimisticPartners,
  permuteSeats,
  type RescaleActionsOptions,
  rescaleActions,
  scaleRewards,
  stickyActions,
  timeLimit,
  withAgentId,
  withPreviousActions,
} from './wrappers';
