export { isFasterGenerated } from './cost';
export { wasmFeatures } from './features';
export { WasmSession } from './session';
export { Unsupported } from './steps';
