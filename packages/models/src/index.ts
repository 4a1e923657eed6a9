export * from './actor-critic';
export * from './inputs';
export * from './layers';
export * from './torso';
