export type { Terminal } from './command';
export { type AgentMaker, type Configuration, checkConfiguration, defineConfig } from './configuration';
export { runCommand } from './main';
