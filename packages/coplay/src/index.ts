export type { Terminal } from './command';
export {
  type AgentConfiguration,
  type AgentMaker,
  type Configuration,
  checkConfiguration,
  defineConfig,
  type GameConfiguration,
  type NetworkConfiguration,
  type RunConfiguration,
  type Seats,
} from './configuration';
export { runCommand } from './main';
