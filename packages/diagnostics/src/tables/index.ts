export { type Cell, formatEstimate } from './format';
export { markdownTable, type TableOptions, type TableRow, textTable } from './tables';
