export { scanGraph } from './scan-graph';
