export { useOnnxWeb } from './use-onnx-web';
