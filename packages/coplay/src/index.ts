export type { Terminal } from './command';
export { checkConfiguration, type RunConfiguration } from './configuration';
export { runCommand } from './main';
