export type { GoalChoice, MoaAgentState, MoaLearner, MoaPretrainOptions, MoaView } from './contract';
export { createMoa } from './create';
export type { MoaOptions } from './options';
export { stackMoas } from './stack-moas';
