export { attemptRows, createMoaBuffer, type MoaBuffer, type MoaCounts, type MoaHeld, moaRows } from './co-player-rings';
export {
  agentRows,
  agentSequences,
  concatExperience,
  createEpisodeCollector,
  decodeExperience,
  type EpisodeCollector,
  type EpisodeStatistics,
  encodeExperience,
  episodeStatistics,
  loadExperience,
  saveExperience,
  selectEnvs,
  sliceSteps,
  splitEpisodes,
  splitSegments,
} from './episodes';
export {
  createHistoryBuffer,
  createHistoryStore,
  type HistoryBuffer,
  type HistoryBufferOptions,
  type HistoryStore,
} from './histories';
export {
  createPpoBuffer,
  type MinibatchPlan,
  type MinibatchRows,
  type PpoBuffer,
  planMinibatches,
} from './minibatches';
export {
  createReplayBuffer,
  createSequenceReplay,
  loadReplay,
  type ReplayBuffer,
  type ReplaySample,
  type SequenceReplay,
  type SequenceSample,
  saveReplay,
} from './replay';
export {
  createOutcomeStore,
  createTransitionStore,
  gridTransitions,
  loadTransitions,
  type OutcomeStore,
  observationRows,
  observationTransitions,
  type TransitionStore,
} from './transitions';
