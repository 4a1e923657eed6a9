export { loadNpz, saveNpz } from './files';
export { decodeNpz, encodeNpz, type StoredArrays } from './npz';
