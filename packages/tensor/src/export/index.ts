export { exportOnnx, type OnnxFile, toOnnx } from './export-onnx';
export type { OnnxInput, OnnxOptions } from './options';
