export {
  createTable,
  type GoalWatcher,
  gameOfRecording,
  goalWalker,
  goalWatcher,
  onnxAgent,
  type PlayPolicy,
  type PlaySetting,
  playableGame,
  playPage,
  recordedExperience,
  ruleAgentNamed,
  rulesOf,
  type Table,
  type Turn,
  type Walker,
} from './play';
export { replayPage } from './replay';
