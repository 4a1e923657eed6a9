export { type ScanOptions, scanGraph } from './scan-graph';
