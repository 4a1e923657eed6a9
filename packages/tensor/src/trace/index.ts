export { TRACE_BACKEND } from './backend';
export { trace } from './trace';
