export { createMoaBuffer, type MoaBuffer, type MoaBufferOptions, type MoaCounts, type MoaHeld } from './moa-buffer';
export { attemptRows, type MoaRowsOptions, moaRows } from './moa-rows';
