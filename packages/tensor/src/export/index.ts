export { exportOnnx, type OnnxFile, type OnnxValue, toOnnx } from './export-onnx';
export type { OnnxInput, OnnxInputs, OnnxOptions } from './options';
