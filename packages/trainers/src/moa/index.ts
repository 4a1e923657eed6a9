export type { GoalChoice, MoaAgentState } from './agent';
export type { MoaLearner, MoaView } from './contract';
export { createMoa } from './create';
export type { MoaOptions } from './options';
export type { MoaPretrainOptions } from './pretrain';
export { stackMoas } from './stack-moas';
