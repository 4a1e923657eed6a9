export { exportOnnx, toOnnx } from './export-onnx';
