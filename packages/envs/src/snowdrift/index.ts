export type { SnowdriftOptions } from './options';
export { snowdrift } from './snowdrift';
