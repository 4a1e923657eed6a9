export { exportOnnx, type OnnxFile, toOnnx } from './export-onnx';
export type { OnnxInput, OnnxInputs, OnnxOptions } from './options';
