export { workFromRedis } from './bullmq';
export { sweepIn } from './directory';
export type { Assignment, Watcher } from './local';
export {
  type Axis,
  defineSweep,
  type Halving,
  type Normal,
  type PlannedRun,
  type Range,
  type SettingValue,
  type Sweep,
  type When,
} from './plan';
export { type RunSweepOptions, runOne, runSweep, submitSweep, summarizeSweep } from './run';
export { bestTable, type IndexedRun, type SettingResult, type SweepResult } from './summary';
export { perform, type RunEnd, type RunProgress } from './work';
