export { type LoadedRun, type LoadOptions, loadAgents, loadRun, type OwnAgents } from './load-run';
