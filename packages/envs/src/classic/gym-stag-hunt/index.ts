export { type GymEscalationOptions, gymEscalation } from './escalation';
export { type GymHarvestOptions, gymHarvest } from './harvest';
export { type GymHuntOptions, gymHunt } from './hunt';
export type { GymBoardOptions } from './options';
