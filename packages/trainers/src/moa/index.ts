export type { GoalChoice, MoaAgentState } from './agent';
export { createMoa } from './create';
export type { MoaLearner, MoaPretrainOptions, MoaView } from './learner';
export type { MoaOptions } from './options';
