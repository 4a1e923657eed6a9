export { curveOf, type Run, readRun } from './read-run';
export { summarise } from './summarise';
