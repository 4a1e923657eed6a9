export { isTracing } from './backend';
export { trace } from './trace';
