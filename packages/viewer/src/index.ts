export {
  createTable,
  type GoalWatcher,
  gameOfRecording,
  goalWalker,
  goalWatcher,
  onnxAgent,
  type PlayPolicy,
  type PlaySetting,
  playPage,
  recordedExperience,
  rulesOf,
  type Table,
  type Walker,
} from './play';
export { replayPage } from './replay';
