export { loadNpz, saveNpz } from './files';
export { decodeNpy, encodeNpy, type StoredArray } from './npy';
export { decodeNpz, encodeNpz, type StoredArrays } from './npz';
