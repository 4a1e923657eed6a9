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
export {
  type Axis,
  defineSweep,
  type Halving,
  type IndexedRun,
  type Normal,
  type PlannedRun,
  type Range,
  type RunSweepOptions,
  runSweep,
  type SettingResult,
  type SettingValue,
  type Sweep,
  type SweepResult,
  type When,
} from './sweep';
