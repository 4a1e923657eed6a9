export { fromRecords } from './from-records';
export type { Records } from './records';
export { toRecords } from './to-records';
