export { paddedCount, padRows } from './pad-rows';
