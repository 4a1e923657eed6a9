export type { GoalChoice, MoaAgentState, MoaLearner, MoaView } from './contract';
export { createMoa, stackMoas } from './learner';
export type { MoaOptions, MoaPretrainOptions } from './options';
