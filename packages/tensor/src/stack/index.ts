export { stackGraph } from './stack-graph';
export { readApart, readFlat } from './state-layout';
