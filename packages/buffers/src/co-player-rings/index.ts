export type { MoaBuffer, MoaCounts, MoaHeld } from './co-player-buffer';
export { createMoaBuffer } from './moa-buffer';
export { attemptRows, moaRows } from './moa-rows';
