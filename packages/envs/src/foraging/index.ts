export { levelForaging } from './level-foraging';
export type { LevelForagingOptions } from './options';
