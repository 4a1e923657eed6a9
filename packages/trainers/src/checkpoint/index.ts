export { decodeSafetensors } from './decode-safetensors';
export type { FileSystem } from './file-system';
export { type FlatState, flattenState, unflattenState } from './flatten';
export { type Checkpoint, type LatestCheckpoint, latestCheckpoint, loadCheckpoint } from './load';
export { describeCheckpoint, resumeFits } from './resume';
export { createRunDirectory, runtimeVersions } from './run-directory';
export { encodeSafetensors, type Safetensors } from './safetensors';
export { saveCheckpoint } from './save';
export { FORMAT_VERSION, LIBRARY_VERSION } from './version';
