export { stackGraph } from './stack-graph';
export { type FloatGroup, readApart, readFlat } from './state-layout';
