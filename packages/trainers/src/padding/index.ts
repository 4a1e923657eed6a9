export { paddedCount, padRows } from '@coplay/core/rows';
