export type { StagHuntOptions } from './options';
export { stagHunt } from './stag-hunt';
