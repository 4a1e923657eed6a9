export { type CrossPlaySummary, crossPlayHeatMap, crossPlaySummary, crossPlayTable } from './summary';
