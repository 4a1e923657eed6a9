/*
 * `@coplay/tensor/threads`: how many threads graphs use, for this process and for a run that is resumed.
 */
export {
  checkThreadChoices,
  restoreThreadChoices,
  type ThreadChoices,
  type ThreadInfo,
  threadChoices,
  threadInfo,
  useThreads,
} from '../compile/onnx/threads';
