export { compileScanEach, type ScanEachOptions } from './compile-each';
