export { type MixedOptions, mixed } from './mixed';
export { type NearestStagOptions, nearestHare, nearestStag } from './nearest';
export type { RuleAgentOptions } from './options';
export { randomAgent } from './random';
export { freeRider, nearestDrift } from './snowdrift';
export { type SwitcherOptions, switcher } from './switcher';
export { type TitForTatOptions, titForTat } from './tit-for-tat';
