export { exportOnnx, type PolicyExportOptions, toOnnx } from './export-onnx';
