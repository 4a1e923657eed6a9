export { type Curriculum, checkCurriculum, curriculum } from './curriculum';
export type { Exploration, Explorers, ExplorersOf } from './exploration';
export type { ExplorationGoals, ExplorerView } from './goals';
export { type GridGoalsOptions, gridGoals } from './grid-goals';
export { type SharedGoalsOptions, sharedGoals } from './shared-goals';
