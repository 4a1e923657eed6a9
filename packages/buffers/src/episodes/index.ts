export { createEpisodeCollector, type EpisodeCollector } from './collector';
export { decodeExperience, encodeExperience, loadExperience, saveExperience } from './files';
export { agentRows, agentSequences } from './rows';
export { concatExperience, selectEnvs, sliceSteps } from './select';
export { splitEpisodes, splitSegments } from './split';
export { type EpisodeStatistics, episodeStatistics } from './statistics';
