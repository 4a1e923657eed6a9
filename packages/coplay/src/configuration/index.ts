export { type BuiltRun, type CodeOfRun, type CodeOptions, codeOfRun, runOf } from './build';
export { type AgentMaker, type Configuration, defineConfig } from './define';
export { configurationIn, giveBack, keepConfiguration, refuseBegun } from './directory';
export { ALLOW_CODE, noteOwnCode, trustOf } from './own-code';
export { type ReadConfiguration, readConfiguration } from './read';
export { checkConfiguration, type RunConfiguration } from './schema';
