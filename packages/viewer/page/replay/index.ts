export { mountReplay, type Replay, type ReplayOptions } from './mount';
