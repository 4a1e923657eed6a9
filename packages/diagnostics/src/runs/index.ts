export { curveOf, type Run, readRun } from './read-run';
export { type SummariseOptions, summarise } from './summarise';
