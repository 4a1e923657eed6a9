export { compileScan, type ScanInputs } from './compile-scan';
