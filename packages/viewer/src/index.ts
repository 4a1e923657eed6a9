export * from './play';
export * from './replay';
