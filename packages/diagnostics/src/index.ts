export * from './audits';
export * from './logs';
export * from './plots';
export * from './runs';
export * from './statistics';
export * from './tables';
