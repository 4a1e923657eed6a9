export { compileScanEach } from './compile-each';
