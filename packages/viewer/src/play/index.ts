export { gameOfRecording, rulesOf } from './games';
export { type GoalWatcher, goalWatcher } from './goal-watcher';
export { onnxAgent } from './onnx-agent';
export { type PlayPolicy, type PlaySetting, playPage } from './play-page';
export { recordedExperience } from './recorded-experience';
export { createTable, type Table } from './table';
export { goalWalker, type Walker } from './walker';
