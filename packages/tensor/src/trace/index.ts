export { TRACE_BACKEND } from './backend';
export { type Tracing, trace } from './trace';
