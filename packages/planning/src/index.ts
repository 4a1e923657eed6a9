export * from './beliefs';
export * from './search';
