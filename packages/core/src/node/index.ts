export { codeOf, writeError } from './file-errors';
export { type Lock, takeLock } from './lock';
export { atProcessEnd } from './process-end';
export {
  type FileContent,
  TEMPORARY_ENDING,
  type WriteOptions,
  writeAllSync,
  writeWhole,
  writeWholeSync,
} from './write-whole';
