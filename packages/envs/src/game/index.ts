export * from './cell-set';
export * from './grid';
export * from './layout';
export * from './obstacles';
export * from './places';
