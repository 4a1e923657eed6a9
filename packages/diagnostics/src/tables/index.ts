export { markdownTable, type TableRow, textTable } from './tables';
