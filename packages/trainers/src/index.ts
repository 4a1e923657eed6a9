export * from './checkpoint';
export * from './learner';
export * from './ppo';
export * from './self-play';
