export { formatEstimate } from './format';
export { markdownTable, type TableRow, textTable } from './tables';
