export { type BuiltRun, runOf } from './build';
export { type AgentMaker, type Configuration, defineConfig } from './define';
export { configurationIn, giveBack, keepConfiguration, refuseBegun } from './directory';
export { ALLOW_CODE, noteOwnCode } from './own-code';
export { readConfiguration } from './read';
export { checkConfiguration, type RunConfiguration } from './schema';
