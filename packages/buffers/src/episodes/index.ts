export { createEpisodeCollector, type EpisodeCollector } from './collector';
export { decodeExperience, encodeExperience, loadExperience, saveExperience } from './files';
export { type AgentSequencesOptions, agentRows, agentSequences } from './rows';
export { concatExperience, selectEnvs, sliceSteps } from './select';
export { type SplitEpisodesOptions, splitEpisodes, splitSegments } from './split';
export { type EpisodeStatistics, episodeStatistics } from './statistics';
