export { decodeSafetensors } from './decode-safetensors';
export { type FileSystem, nodeFileSystem } from './file-system';
export { type FlatState, flattenState, type Json, unflattenState } from './flatten';
export {
  type Checkpoint,
  type LatestCheckpoint,
  type LatestOptions,
  type LoadOptions,
  latestCheckpoint,
  loadCheckpoint,
  type SkippedCheckpoint,
} from './load';
export { describeCheckpoint, resumeFits } from './resume';
export { createRunDirectory, type RunDirectoryOptions, runtimeVersions, writeFileAtomic } from './run-directory';
export { encodeSafetensors, type Safetensors } from './safetensors';
export { type SaveOptions, saveCheckpoint } from './save';
export { FORMAT_VERSION, LIBRARY_VERSION } from './version';
