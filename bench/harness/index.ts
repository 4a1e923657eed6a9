export type { Context, Experiment, SeedPlace } from './experiment';
export { main } from './main';
export { findPython, runPython } from './python';
export { cpuClock, timeInTurns } from './timing';
