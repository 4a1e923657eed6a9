export { gameOfRecording, playableGame, ruleAgentNamed, rulesOf } from './games';
export { type GoalWatcher, goalWatcher } from './goal-watcher';
export { type OnnxAgentOptions, type OnnxSession, type OnnxTensorClass, onnxAgent } from './onnx-agent';
export { type PlayPageOptions, type PlayPolicy, type PlaySetting, playPage } from './play-page';
export { recordedExperience } from './recorded-experience';
export { createTable, type DoneStep, type PlayOptions, type Table, type TableOptions, type Turn } from './table';
export { goalWalker, type Walker } from './walker';
