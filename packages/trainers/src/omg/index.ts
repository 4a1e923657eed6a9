export type { Inferred } from './infer';
export { createOmg, type OmgLearner } from './learner';
export type { OmgOptions } from './options';
export type { OmgPretrainOptions } from './pretrain';
export type { MixedSubgoals, SubgoalsOfOptions } from './subgoals';
export type { OwnView } from './views';
