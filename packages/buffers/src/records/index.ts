export { fromRecords } from './from-records';
export type { Records } from './records';
export { type StreamRecords, streamRecords } from './stream-records';
export { toRecords } from './to-records';
