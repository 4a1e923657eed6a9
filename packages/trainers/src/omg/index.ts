export { createOmg, type OmgLearner } from './learner';
export type { OmgOptions } from './options';
export type { OwnView } from './views';
