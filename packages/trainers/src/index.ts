export * from './checkpoint';
export * from './export';
export * from './learner';
export * from './ppo';
export * from './self-play';
