export { type OnnxWebOptions, useOnnxWeb } from './use-onnx-web';
export type { OnnxWeb } from './web-runtime';
