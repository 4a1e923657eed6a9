export type { SnowdriftLayout } from './layout';
export type { SnowdriftOptions } from './options';
export { snowdrift } from './snowdrift';
