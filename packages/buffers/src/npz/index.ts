export { loadNpz, saveNpz } from './files';
export { decodeNpy, encodeNpy, type StoredArray } from './npy';
export { decodeNpz, encodeNpz, type ReadNpzOptions, type StoredArrays } from './npz';
export type { ByteSource } from './zip-read';
