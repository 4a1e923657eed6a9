export { gymEscalation } from './escalation';
export { gymHarvest } from './harvest';
export { gymHunt } from './hunt';
