export { createHistoryBuffer, type HistoryBuffer, type HistoryBufferOptions } from './history-buffer';
export { createHistoryStore, type HistoryStore } from './store';
