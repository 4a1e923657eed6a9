export { type BuiltRun, runOf } from './build';
export {
  type AgentConfiguration,
  type AgentMaker,
  type Configuration,
  defineConfig,
  type GameConfiguration,
  type Seats,
} from './define';
export { configurationIn, giveBack, keepConfiguration, refuseBegun } from './directory';
export type { NetworkConfiguration } from './networks';
export { ALLOW_CODE, noteOwnCode } from './own-code';
export { readConfiguration } from './read';
export { checkConfiguration, type RunConfiguration } from './schema';
