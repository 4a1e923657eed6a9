export { createMoaBuffer, type MoaBuffer, type MoaCounts, type MoaHeld } from './moa-buffer';
export { attemptRows, moaRows } from './moa-rows';
