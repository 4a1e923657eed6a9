export { codeOf, writeError } from './file-errors';
export { fileName } from './file-name';
export { type Lock, lockDirectory, takeLock } from './lock';
export { atProcessEnd } from './process-end';
export {
  type FileContent,
  TEMPORARY_ENDING,
  type WriteOptions,
  writeAllSync,
  writeWhole,
  writeWholeSync,
} from './write-whole';
