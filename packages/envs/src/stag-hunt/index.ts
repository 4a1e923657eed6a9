export type { StagHuntLayout } from './layout';
export type { StagHuntOptions } from './options';
export { stagHunt } from './stag-hunt';
