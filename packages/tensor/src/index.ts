export * from './backend';
export * from './compile';
export * from './distributions';
export * from './gradients';
export * from './init';
export * from './optimise';
export * from './tf';
