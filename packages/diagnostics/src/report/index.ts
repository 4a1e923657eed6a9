export { addToReport } from './extras';
export { findProblems } from './findings';
export { type ReportOptions, report, writeReport } from './report';
