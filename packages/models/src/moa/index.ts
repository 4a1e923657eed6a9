export { type MoaInputs, type MoaNet, type MoaNetOptions, type MoaStep, moaNet } from './moa-net';
