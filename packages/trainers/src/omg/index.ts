export { createOmg, type OmgLearner } from './learner';
export { type OmgOptions, omgSchema } from './options';
export type { OwnView } from './views';
