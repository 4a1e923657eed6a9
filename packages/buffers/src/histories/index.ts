export { createHistoryBuffer, type HistoryBuffer, type HistoryBufferOptions } from './history-buffer';
