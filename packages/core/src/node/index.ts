export { codeOf, writeError } from './file-errors';
export { fileName } from './file-name';
export { type Lock, lockDirectory, takeLock } from './lock';
export { atProcessEnd } from './process-end';
export { TEMPORARY_ENDING, writeAllSync, writeWhole, writeWholeSync } from './write-whole';
