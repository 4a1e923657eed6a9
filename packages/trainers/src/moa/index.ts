export type { GoalChoice, MoaLearner, MoaView } from './contract';
export { createMoa, stackMoas } from './learner';
export { type MoaOptions, moaDefaults, moaSchema } from './options';
