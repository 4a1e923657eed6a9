export { compileScan, type ScanInputs, type ScanOptions } from './compile-scan';
