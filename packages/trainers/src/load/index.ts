export { type LoadedRun, type LoadOptions, loadAgents, loadRun, type OwnAgents } from './load-run';
export { type PackOptions, packAgents, type UnpackedAgents, type UnpackOptions, unpackAgents } from './pack';
