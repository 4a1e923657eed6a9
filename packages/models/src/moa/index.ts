export { type MoaNet, type MoaNetOptions, moaNet } from './moa-net';
