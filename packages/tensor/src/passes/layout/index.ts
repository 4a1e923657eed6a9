export { sinkTransposes } from './sink-transposes';
