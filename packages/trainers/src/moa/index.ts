export type { GoalChoice, MoaAgentState } from './agent';
export { createMoa } from './create';
export type { MoaLearner, MoaView, PretrainOptions } from './learner';
export type { MoaOptions } from './options';
