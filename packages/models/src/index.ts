export * from './actor-critic';
export * from './inputs';
export * from './layers';
export * from './moa';
export * from './omg';
export * from './rssm';
export * from './torso';
export * from './world-model';
