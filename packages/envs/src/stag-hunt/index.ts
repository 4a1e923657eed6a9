export type { StagHuntLayout } from './layout-text';
export type { StagHuntOptions } from './options';
export { stagHunt } from './stag-hunt';
