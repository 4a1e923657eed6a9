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
  limitedView,
  type OptimisticPartnersOptions,
  optimisticPartners,
  permuteSeats,
  timeLimit,
  withAgentId,
  withPreviousActions,
} from './wrappers';
