export { glorotUniform, orthogonal, truncatedNormal, zeros } from './init';
