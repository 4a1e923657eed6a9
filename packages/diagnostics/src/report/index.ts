export { addToReport, type RecordedEpisode, type ReportExtras } from './extras';
export { type Finding, findProblems } from './findings';
export { type ReportOptions, report, writeReport } from './report';
