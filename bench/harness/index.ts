export type { Context, Experiment, SeedPlace } from './experiment';
export { learningColumns, medianReached, reachedOrNever, stepsToReach } from './learning';
export { main } from './main';
export { findPython, runPython } from './python';
export { recentEpisodes } from './recent-episodes';
export { meanOfEpisodes, shortCurve } from './run-logs';
export { cpuClock, medianOrNever, orNever, timeInTurns } from './timing';
