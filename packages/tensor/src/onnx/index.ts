export { encodeModel, type ModelInfo } from './model';
