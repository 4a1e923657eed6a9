export * from './episodes';
export * from './npz';
export * from './ppo';
export * from './records';
export * from './replay';
export * from './rows';
