export type { Terminal } from './command';
export {
  type AgentMaker,
  type CodeOfRun,
  type CodeOptions,
  type Configuration,
  checkConfiguration,
  codeOfRun,
  defineConfig,
} from './configuration';
export { runCommand } from './main';
